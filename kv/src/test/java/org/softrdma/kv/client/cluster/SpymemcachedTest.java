package org.softrdma.kv.client.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import net.spy.memcached.DefaultHashAlgorithm;
import net.spy.memcached.KetamaConnectionFactory;
import net.spy.memcached.KetamaNodeKeyFormatter;
import net.spy.memcached.KetamaNodeLocator;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.MemcachedNode;
import net.spy.memcached.NodeLocator;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.server.RunningServer;

/** A cluster's clients of both kinds: what one stores, the other finds. */
class SpymemcachedTest {
    private static final int KEYS = 300;
    private static final long PATIENCE_S = 30;

    @Test
    void shouldFindWhatTheOtherClientHasStored() throws Exception {
        try (RunningServer first = new RunningServer();
                RunningServer second = new RunningServer();
                RunningServer third = new RunningServer()) {
            List<ClusterServer> servers = new ArrayList<>();
            List<InetSocketAddress> addresses = new ArrayList<>();
            for (RunningServer server : List.of(first, second, third)) {
                servers.add(new ClusterServer("localhost", server.address().getPort(), 1));
                addresses.add(
                        new InetSocketAddress("localhost", server.address().getPort()));
            }
            MemcachedClient theirs = new MemcachedClient(new LibmemcachedNames(), addresses);
            try (KvCluster ours = KvCluster.connect(first.clientDevice(), new KvClusterContext(servers))) {
                for (int i = 0; i < KEYS; i++) {
                    String key = "ours:" + i;
                    assertEquals(SetStatus.STORED, ours.set(bytes(key), 0, 0, bytes(key)));
                    assertTrue(theirs.set("theirs:" + i, 0, "theirs:" + i).get(PATIENCE_S, TimeUnit.SECONDS));
                }
                for (int i = 0; i < KEYS; i++) {
                    String key = "theirs:" + i;
                    assertEquals(key, text(ours.get(bytes(key)).orElseThrow().value()));
                    assertEquals("ours:" + i, theirs.get("ours:" + i));
                }
            } finally {
                theirs.shutdown(PATIENCE_S, TimeUnit.SECONDS);
            }
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    /** Names servers as libmemcached does, and not by spymemcached's own habit. */
    private static final class LibmemcachedNames extends KetamaConnectionFactory {
        @Override
        public NodeLocator createLocator(List<MemcachedNode> nodes) {
            return new KetamaNodeLocator(
                    nodes, DefaultHashAlgorithm.KETAMA_HASH, KetamaNodeKeyFormatter.Format.LIBMEMCACHED, Map.of());
        }
    }
}
