package org.softrdma.kv;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvRequest;
import org.softrdma.kv.client.SharedKvClient;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** The README's example of the store's client: it runs, and it is what the README shows. */
class ReadmeExampleTest {
    private static final Path THIS = Path.of("src/test/java/org/softrdma/kv/ReadmeExampleTest.java");
    private static final Path README = Path.of("../README.md");

    @Test
    void shouldGetWhatItSet() {
        try (RunningServer running = new RunningServer()) {
            String host = running.address().getHostString();
            assertEquals("hello", greet(host, running.address().getPort()));
        }
    }

    private static String greet(String host, int port) {
        // README: begin
        KvClientContext context = new KvClientContext(new InetSocketAddress(host, port)).conclude();
        try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of());
                SharedKvClient client = SharedKvClient.connect(device, context)) { // one for all threads
            byte[] key = "greeting".getBytes(UTF_8);
            client.set(key, 0, 60, "hello".getBytes(UTF_8)); // over TCP, as to any memcached; expires in 60 s
            Optional<KvItem> item = client.get(key); // one READ
            CompletableFuture<Optional<KvItem>> later = client.submit(KvRequest.get(key)); // without waiting
            return new String(item.or(later::join).orElseThrow().value(), UTF_8);
        }
        // README: end
    }

    @Test
    void shouldBeWhatTheReadmeShows() throws IOException {
        String readme = Files.readString(README);
        int chapter = readme.indexOf("## One GET, from the library");
        assertTrue(chapter >= 0, "the README has no such chapter");
        String shown = between(readme.substring(chapter), "```java", "```");
        String here = between(Files.readString(THIS), "// README: begin", "// README: end");
        assertEquals(here.replaceAll("\\s+", ""), shown.replaceAll("\\s+", ""));
    }

    private static String between(String text, String begin, String end) {
        int from = text.indexOf(begin) + begin.length();
        return text.substring(from, text.indexOf(end, from));
    }
}
