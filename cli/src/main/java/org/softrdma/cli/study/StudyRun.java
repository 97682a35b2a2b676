package org.softrdma.cli.study;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.study.StudySetup;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.kv.client.KvException;
import org.softrdma.stores.StoreException;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Model.CommandSpec;

/** What the commands share that start servers, load them and leave results in the directory of {@code --out}. */
final class StudyRun {
    private static final String ENGINE_THREADS = "threads";
    /** Of the software RNIC: how it reaches the network. */
    private static final String TRANSPORT = "transport";

    private StudyRun() {}

    /** A study that is ready to run. */
    @FunctionalInterface
    interface Study {
        /**
         * Measures.
         *
         * @param out a directory that can be written
         * @return GETs and the like that went wrong
         */
        long run(Path out) throws IOException;
    }

    /**
     * Runs a study, and says in one line why it failed.
     *
     * @param spec the command
     * @param out where results go
     * @return the exit code
     */
    static int run(CommandSpec spec, Path out, Study study) {
        requireWritable(out);
        try {
            return study.run(out) == 0 ? ExitCode.OK : ExitCode.FAILED;
        } catch (MeasurementException | KvException | StoreException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        } catch (IOException e) {
            throw unwritable(out, e);
        }
    }

    /**
     * What a study needs of this machine and program.
     *
     * @param spec the command
     * @param provider its provider options, which its servers are started with
     * @param otherBuild the jar of another build, whose server is measured too; null for none
     * @param remote a server that runs already; null if it is to be started
     * @param path where other programs are looked for
     */
    static StudySetup setup(
            CommandSpec spec,
            ProviderMixin provider,
            @Nullable Path otherBuild,
            StudySetup.@Nullable Remote remote,
            String path) {
        provider.tolerateStoppedProcesses();
        return new StudySetup(
                wanted -> provider.openWithKnown(wanted),
                provider.provider().name(),
                again(spec, provider, "server"),
                otherBuild == null ? List.of() : OwnProgram.ofOtherBuild(otherBuild, arguments(provider, "server")),
                again(spec, provider, "store"),
                Optional.of(ENGINE_THREADS)
                        .filter(name -> provider.provider().options().containsKey(name)),
                epoll(provider),
                new LoopbackHosts(provider.rocePort()),
                remote,
                OwnProgram.nativeSources(),
                path,
                MachineDescription.here(OwnProgram.codeDirectory()),
                spec.commandLine().getOut(),
                new TerminalProgress(spec.commandLine().getErr()));
    }

    /** Another command of this program on the same provider. */
    private static List<String> again(CommandSpec spec, ProviderMixin provider, String command) {
        return OwnProgram.again(spec.root().userObject().getClass(), arguments(provider, command));
    }

    private static List<String> arguments(ProviderMixin provider, String command) {
        List<String> arguments = new ArrayList<>(List.of(command));
        arguments.addAll(provider.arguments());
        return arguments;
    }

    /** Nothing if somebody has chosen a transport, or if the provider has none to choose. */
    private static Optional<String> epoll(ProviderMixin provider) {
        boolean free = provider.provider().options().containsKey(TRANSPORT)
                && provider.arguments().stream().noneMatch(argument -> argument.startsWith(TRANSPORT + "="));
        return free ? Optional.of(TRANSPORT + "=epoll") : Optional.empty();
    }

    /** The command as it was typed. */
    static String scenario(CommandSpec spec) {
        return "softrdma "
                + String.join(" ", spec.commandLine().getParseResult().originalArgs());
    }

    /** Better before a study than after it. */
    private static void requireWritable(Path out) {
        if (Files.exists(out) && !Files.isDirectory(out)) {
            throw new UserErrorException("--out " + out + ": expected a directory, found a file");
        }
        try {
            Files.createDirectories(out);
            Files.delete(Files.createTempFile(out, "probe", ""));
        } catch (IOException e) {
            throw unwritable(out, e);
        }
    }

    private static UserErrorException unwritable(Path out, IOException e) {
        return new UserErrorException("--out " + out + ": cannot write to the directory (" + e + ")", e);
    }
}
