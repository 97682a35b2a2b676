package org.softrdma.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** What the commands of {@code softrdma perf} share: devices, this program as a child process, results on disk. */
final class PerfSupport {
    private static final String PROGRESS = "progress";
    private static final Path NATIVE_SOURCES = Path.of("wimpy-bench", "native");

    private PerfSupport() {}

    /**
     * Opens the device of a command.
     *
     * @param spec the command
     * @param mixin its provider options
     * @param wanted who is to drive the device; null for the default
     * @param byDefault who drives it if the user does not say, where the provider lets one choose
     */
    static VerbsDevice open(
            CommandSpec spec, ProviderMixin mixin, @Nullable PerfProgress wanted, PerfProgress byDefault) {
        boolean chooses = mixin.provider().options().containsKey(PROGRESS);
        if (wanted != null && !chooses) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--progress: the provider " + mixin.provider().name() + " has no such choice, leave it out");
        }
        PerfProgress chosen = wanted == null ? byDefault : wanted;
        return mixin.open(chooses ? Map.of(PROGRESS, chosen.option()) : Map.of());
    }

    /**
     * Opens a device for a study, which asks for what the provider may not know.
     *
     * @param mixin the provider options
     * @param wanted options the study wants where the provider has them
     */
    static VerbsDevice open(ProviderMixin mixin, Map<String, String> wanted) {
        VerbsProvider provider = mixin.provider();
        Map<String, String> known = new LinkedHashMap<>(wanted);
        known.keySet().retainAll(provider.options().keySet());
        return mixin.open(known);
    }

    /** Where the classes of this program are: a jar or a directory; null if the class loader does not tell. */
    private static @Nullable Path code() {
        try {
            var source = PerfSupport.class.getProtectionDomain().getCodeSource();
            return source == null ? null : Path.of(source.getLocation().toURI());
        } catch (URISyntaxException e) {
            return null;
        }
    }

    /** The directory this program lies in; null if it is not known. */
    static @Nullable Path codeDirectory() {
        Path code = code();
        return code == null || Files.isDirectory(code) ? code : code.getParent();
    }

    /**
     * The command that runs this program again with the same Java, options and jar.
     *
     * @param arguments its arguments
     */
    static List<String> self(List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current()
                .info()
                .command()
                .orElse(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                // What profiles or debugs this process would clash in a second one.
                .filter(option -> !option.startsWith("-agent") && !option.startsWith("-XX:StartFlightRecording"))
                .forEach(command::add);
        Path code = code();
        if (code != null && Files.isRegularFile(code)) {
            command.addAll(List.of("-jar", code.toString()));
        } else {
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        }
        command.addAll(arguments);
        return command;
    }

    /** The C sources beside this program: in the clone it was built in, or below the working directory. */
    static Path nativeSources() {
        for (Path at = codeDirectory(); at != null; at = at.getParent()) {
            if (Files.isDirectory(at.resolve(NATIVE_SOURCES))) {
                return at.resolve(NATIVE_SOURCES);
            }
        }
        return NATIVE_SOURCES;
    }

    /** The arguments that give a child the same provider and device options. */
    static List<String> providerArguments(ProviderMixin mixin) {
        List<String> arguments =
                new ArrayList<>(List.of("--provider", mixin.provider().name()));
        mixin.deviceOptions().forEach((name, value) -> arguments.addAll(List.of("--device", name + "=" + value)));
        return arguments;
    }

    /**
     * Says in one line why the work failed.
     *
     * @param spec the command
     * @param failure why
     * @return the exit code
     */
    static int failed(CommandSpec spec, RuntimeException failure) {
        String message = Optional.ofNullable(failure.getMessage()).orElse(failure.toString());
        spec.commandLine().getOut().flush();
        spec.commandLine().getErr().println(spec.qualifiedName() + ": " + message);
        spec.commandLine().getErr().flush();
        return Main.EXIT_FAILED;
    }

    /**
     * Writes results.
     *
     * @param file where to
     * @param results what
     */
    static void write(Path file, ObjectNode results) {
        try {
            Path parent = file.toAbsolutePath().getParent();
            if (parent != null) {
                Files.createDirectories(parent);
            }
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), results);
        } catch (IOException e) {
            throw new UserErrorException("--json " + file + ": cannot be written: " + e.getMessage(), e);
        }
    }
}
