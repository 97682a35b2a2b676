package org.softrdma.kv;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProviders;

/**
 * The store's tutorial: a server and its clients in one process, in six steps. docs/guide/store-tutorial.md shows the same
 * code; DocumentationTest (cli) keeps the two equal.
 */
class StoreTutorialTest {
    @Test
    void shouldGetByReadAndFindItemThatMoved() {
        // docs: server
        VerbsProvider provider = VerbsProviders.named("sim");
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        KvServerContext settings = new KvServerContext().memcachedAddress(anyPort);
        try (VerbsDevice serverDevice = provider.open(Map.of());
                KvServer server = KvServer.start(serverDevice, settings.conclude())) {
            // docs: end

            // docs: set
            KvClientContext context = new KvClientContext(server.memcachedAddress()).conclude();
            try (VerbsDevice clientDevice = provider.open(Map.of());
                    KvClient client = KvClient.connect(clientDevice, context);
                    KvClient other = KvClient.connect(clientDevice, context)) {
                byte[] key = "greeting".getBytes(UTF_8);
                SetStatus status = client.set(key, 0, 60, "hello".getBytes(UTF_8)); // flags 0, expires in 60 seconds
                assertEquals(SetStatus.STORED, status);
                assertEquals(KvProtocol.RDMA, client.protocol());
                // docs: end

                // docs: get
                KvItem item = client.get(key).orElseThrow();
                assertEquals("hello", new String(item.value(), UTF_8));
                assertEquals(1, client.counters().reads());
                assertEquals(1, client.counters().hits());
                // docs: end

                // docs: moved
                other.set(key, 0, 60, "hello again".getBytes(UTF_8));
                assertEquals(
                        "hello again", new String(client.get(key).orElseThrow().value(), UTF_8));
                assertEquals(1, client.counters().forwarded()); // the READ found the way to the new item
                assertEquals(3, client.counters().reads()); // so this get took two

                other.delete(key);
                assertTrue(client.get(key).isEmpty());
                assertEquals(1, client.counters().stale()); // the READ found a dead item
                assertEquals(1, client.counters().rgets()); // so the client asked the server
                // docs: end

                // docs: plain
                KvClientContext plain = new KvClientContext(server.memcachedAddress()).protocol(KvProtocol.PLAIN);
                try (KvClient classic = KvClient.connect(plain.conclude())) { // no device
                    classic.set(key, 0, 60, "by text".getBytes(UTF_8));
                    assertEquals(
                            "by text", new String(client.get(key).orElseThrow().value(), UTF_8));
                    assertEquals(
                            "by text", new String(classic.get(key).orElseThrow().value(), UTF_8));
                    assertEquals(0, classic.counters().reads());
                    assertEquals(1, classic.counters().tcpGets());
                }
                // docs: end

                // docs: statistics
                Map<String, String> rdma = client.stats("rdma");
                assertEquals("2", rdma.get("queue_pairs"));
                assertEquals(Long.toString(client.counters().reads()), rdma.get("device_responderReads"));
                assertEquals("3", client.stats("").get("cmd_set"));
            }
        }
        // docs: end
    }
}
