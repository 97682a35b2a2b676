package org.softrdma.junit.guide;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The two processes of docs/guide/messages.md. */
class TicketsTest {
    private static final int CLIENTS = 3;
    private static final int COUNT = 100;

    @Test
    void shouldGiveEachNumberOnceToClientsOfAnotherProcess() throws Exception {
        Process server = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Tickets.class.getName(),
                        "server",
                        "127.0.0.1",
                        "0")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = server.inputReader();
                ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), portIn(output));
            List<Future<List<Long>>> taken = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                taken.add(clients.submit(() -> Tickets.take(address, COUNT)));
            }
            List<Long> all = new ArrayList<>();
            for (Future<List<Long>> some : taken) {
                all.addAll(some.get());
            }
            assertEquals(
                    LongStream.range(0, CLIENTS * COUNT).boxed().toList(),
                    all.stream().sorted().toList());
        } finally {
            server.destroyForcibly().waitFor();
        }
    }

    private static int portIn(BufferedReader output) throws IOException {
        String line = output.readLine();
        if (line == null) {
            throw new IOException("the server has ended");
        }
        return Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
    }
}
