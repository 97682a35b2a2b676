package org.softrdma.kv.server;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.softrdma.sim.SoftRdmaProvider;

/** A server in a process of its own, to be killed: its main method, and the handle on it. */
public final class KvServerProcess implements AutoCloseable {
    private static final String READY = "ready";

    private final Process process;

    /**
     * Starts one; when this returns its ports are open.
     *
     * @param port its memcached port
     */
    public KvServerProcess(int port) throws IOException {
        process = new ProcessBuilder(List.of(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KvServerProcess.class.getName(),
                        Integer.toString(port)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        if (!READY.equals(line)) {
            close();
            throw new IOException("the server's process said " + line);
        }
    }

    /** Kills it, by SIGKILL, and waits until it is dead. */
    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /**
     * The server; lives until its input ends, so that it never outlives the test.
     *
     * @param arguments the memcached port
     */
    public static void main(String[] arguments) throws IOException {
        KvServer server = KvServer.start(
                new SoftRdmaProvider().open(Map.of()),
                new KvServerContext()
                        .memcachedAddress(
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0])))
                        .threads(2)
                        .version("test")
                        .conclude());
        System.out.println(READY);
        while (System.in.read() >= 0) {
            // nothing is said
        }
        server.close();
        System.exit(0);
    }
}
