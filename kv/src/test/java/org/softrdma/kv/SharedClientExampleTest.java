package org.softrdma.kv;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetSocketAddress;
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

/** The client for many threads, as docs/guide/store-tutorial.md shows it; DocumentationTest (cli) keeps the two equal. */
class SharedClientExampleTest {
    @Test
    void shouldGetWhatItSet() {
        try (RunningServer running = new RunningServer()) {
            String host = running.address().getHostString();
            assertEquals("hello", greet(host, running.address().getPort()));
        }
    }

    private static String greet(String host, int port) {
        // docs: greet
        KvClientContext context = new KvClientContext(new InetSocketAddress(host, port)).conclude();
        try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of());
                SharedKvClient client = SharedKvClient.connect(device, context)) { // one for all threads
            byte[] key = "greeting".getBytes(UTF_8);
            client.set(key, 0, 60, "hello".getBytes(UTF_8)); // over TCP, as to any memcached; expires in 60 s
            Optional<KvItem> item = client.get(key); // one READ
            CompletableFuture<Optional<KvItem>> later = client.submit(KvRequest.get(key)); // without waiting
            return new String(item.or(later::join).orElseThrow().value(), UTF_8);
        }
        // docs: end
    }
}
