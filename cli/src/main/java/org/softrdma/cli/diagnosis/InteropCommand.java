package org.softrdma.cli.diagnosis;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.ResultFile;
import org.softrdma.testkit.interop.InteropCases;
import org.softrdma.testkit.interop.InteropCases.Trespass;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softrdma interop}: one case of interoperation with the scripted peer of {@code ci/rdma-vm}. Not for people. */
@Command(name = "interop", hidden = true, description = "Run a case against the scripted peer of ci/rdma-vm.")
public final class InteropCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Parameters(index = "0", paramLabel = "CASE", description = "One of ${COMPLETION-CANDIDATES}.")
    private Case chosen = Case.SIZES;

    @Parameters(index = "1", paramLabel = "HOST", description = "Where the peer listens; listen: where this side does.")
    private String host = "";

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7174", description = "Its port.")
    private int port;

    @Option(
            names = "--bystander",
            paramLabel = "PORT",
            defaultValue = "7175",
            description = "Port of a second peer on the same host, whose connection must live on.")
    private int bystander;

    @Option(
            names = "-n",
            paramLabel = "NUMBER",
            defaultValue = "0",
            description = "Connections, bytes of private data, largest size, MPA revision, or seconds, by case.")
    private int number;

    @Option(names = "--trespass", paramLabel = "WHAT", description = "One of ${COMPLETION-CANDIDATES}.")
    private Trespass trespass = Trespass.READ_KEY;

    @Option(
            names = "--seed",
            paramLabel = "SEED",
            defaultValue = "4711",
            description = "Seed of all random choices; a failure prints it.")
    private long seed;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the device's counters to this file.")
    private @Nullable Path json;

    /** What can be run; see the methods of {@link InteropCases}. */
    enum Case {
        SIZES,
        WITHOUT_READS,
        PRIVATE_DATA,
        REJECTED,
        TRESPASS,
        TRESPASSED,
        ATOMIC,
        KILLED,
        CONNECTS,
        LISTEN,
        SOAK,
        SOAK_LISTENING
    }

    InteropCommand() {}

    @Override
    public Integer call() {
        InetSocketAddress other = new InetSocketAddress(host, bystander);
        try (VerbsDevice device = provider.open(Map.of())) {
            InteropCases cases = new InteropCases(
                    device,
                    new InetSocketAddress(host, port),
                    spec.commandLine().getOut());
            switch (chosen) {
                case SIZES -> cases.sizes(number);
                case WITHOUT_READS -> cases.withoutReads(number);
                case PRIVATE_DATA -> cases.privateData(number);
                case REJECTED -> cases.rejected();
                case TRESPASS -> cases.trespass(trespass, other);
                case TRESPASSED -> cases.trespassed(trespass, other);
                case ATOMIC -> cases.atomic(other);
                case KILLED -> cases.killed(other);
                case CONNECTS -> cases.connects(number);
                case LISTEN -> cases.listen(number);
                case SOAK -> cases.soak(number, seed);
                case SOAK_LISTENING -> cases.soakListening(number, seed);
            }
            if (json != null) {
                ObjectMapper mapper = new ObjectMapper();
                ObjectNode root = mapper.createObjectNode();
                root.set("counters", mapper.valueToTree(device.counters()));
                ResultFile.write(json, root);
            }
            return ExitCode.OK;
        } catch (AssertionError | VerbsException e) {
            spec.commandLine().getErr().println(chosen.name().toLowerCase(Locale.ROOT) + ": " + e.getMessage());
            return ExitCode.FAILED;
        }
    }
}
