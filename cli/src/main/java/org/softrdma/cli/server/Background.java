package org.softrdma.cli.server;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.UserErrorException;

/**
 * memcached's {@code -d}: a server in a process of its own, without a terminal. A JVM cannot fork, so the server is
 * started once more, and whoever started the first process is told once the second one serves. No state.
 */
final class Background {
    /** The last line that a server prints when it has started. */
    static final String LAST_LINE = "pinning: ";

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final int WRITE_ONLY = 1;
    private static final int FIRST_STREAM = 0;
    private static final int LAST_STREAM = 2;

    private Background() {}

    /**
     * Starts the server, and waits until it serves or has ended.
     *
     * @param command runs the server in this session
     * @param out takes what the server prints when it has started
     * @return the exit code of this process
     */
    static int start(List<String> command, PrintWriter out) {
        try {
            Process server = new ProcessBuilder(command)
                    .redirectInput(Redirect.from(new File("/dev/null")))
                    .redirectError(Redirect.INHERIT)
                    .start();
            try (BufferedReader lines = server.inputReader()) {
                String line = lines.readLine();
                while (line != null && !line.startsWith(LAST_LINE)) {
                    out.println(line);
                    line = lines.readLine();
                }
                if (line != null) {
                    out.println(line);
                    out.flush();
                    return ExitCode.OK;
                }
            }
            return server.waitFor();
        } catch (IOException e) {
            throw new UserErrorException("-d: the server cannot be started: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    /** Leaves the session of whoever started this process, so that its end is not the server's. */
    static void leaveSession() {
        try {
            int ignored = (int) function("setsid", FunctionDescriptor.of(INT)).invokeExact();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // it throws nothing
        }
    }

    /** Lets go of the streams of whoever started this process. */
    static void leaveStreams() {
        try (Arena arena = Arena.ofConfined()) {
            MethodHandle open = function(
                    "open", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT), Linker.Option.firstVariadicArg(2));
            MethodHandle dup2 = function("dup2", FunctionDescriptor.of(INT, INT, INT));
            int nowhere = (int) open.invokeExact(arena.allocateFrom("/dev/null"), WRITE_ONLY);
            for (int stream = FIRST_STREAM + 1; stream <= LAST_STREAM && nowhere >= 0; stream++) {
                int ignored = (int) dup2.invokeExact(nowhere, stream);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // none of these functions throws
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.defaultLookup()
                .find(name)
                .map(address -> linker.downcallHandle(address, descriptor, options))
                .orElseThrow(() -> new UserErrorException("-d: the C library of this system has no " + name + "."));
    }
}
