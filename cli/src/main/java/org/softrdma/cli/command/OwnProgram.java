package org.softrdma.cli.command;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** This program as it was started: where it lies, and how to run it again as a child process. */
public final class OwnProgram {
    private static final Path NATIVE_SOURCES = Path.of("wimpy-bench", "native");

    private OwnProgram() {}

    /** Where the classes of this program are: a jar or a directory; null if the class loader does not tell. */
    private static @Nullable Path code() {
        try {
            var source = OwnProgram.class.getProtectionDomain().getCodeSource();
            return source == null ? null : Path.of(source.getLocation().toURI());
        } catch (URISyntaxException e) {
            return null;
        }
    }

    /** The directory this program lies in; null if it is not known. */
    public static @Nullable Path codeDirectory() {
        Path code = code();
        return code == null || Files.isDirectory(code) ? code : code.getParent();
    }

    /**
     * The command that runs this program again with the same Java, options and jar.
     *
     * @param main the class to run where there is no jar: that of the root command
     */
    public static List<String> again(Class<?> main, List<String> arguments) {
        List<String> command = java();
        Path code = code();
        if (code != null && Files.isRegularFile(code)) {
            command.addAll(List.of("-jar", code.toString()));
        } else {
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        }
        command.addAll(arguments);
        return command;
    }

    /**
     * The command that runs another build of this program with the same Java and options.
     *
     * @param jar that build's executable jar
     */
    public static List<String> ofOtherBuild(Path jar, List<String> arguments) {
        List<String> command = java();
        command.addAll(List.of("-jar", jar.toString()));
        command.addAll(arguments);
        return command;
    }

    /**
     * Ends the command if a jar that an option names is not there.
     *
     * @param option its name
     * @param jar its value
     */
    public static void requireJar(String option, Path jar) {
        if (!Files.isRegularFile(jar) || !Files.isReadable(jar)) {
            throw new UserErrorException(option + " " + jar
                    + ": expected the jar of another build, which is cli/target/softrdma.jar in its clone");
        }
    }

    /** The Java that runs this program, with its options. */
    private static List<String> java() {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current()
                .info()
                .command()
                .orElse(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                // What profiles or debugs this process would clash in a second one.
                .filter(option -> !option.startsWith("-agent") && !option.startsWith("-XX:StartFlightRecording"))
                .forEach(command::add);
        return command;
    }

    /** The C sources beside this program: in the clone it was built in, or below the working directory. */
    public static Path nativeSources() {
        for (Path at = codeDirectory(); at != null; at = at.getParent()) {
            if (Files.isDirectory(at.resolve(NATIVE_SOURCES))) {
                return at.resolve(NATIVE_SOURCES);
            }
        }
        return NATIVE_SOURCES;
    }
}
