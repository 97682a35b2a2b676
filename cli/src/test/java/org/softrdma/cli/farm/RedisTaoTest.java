package org.softrdma.cli.farm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.bench.server.ServerProcess;
import org.softrdma.farm.graph.LinkBenchGraph;

/** Tao's graph in a real redis, if one is installed. */
class RedisTaoTest {
    private static final LinkBenchGraph DATA = new LinkBenchGraph(60, 1);
    private static final long RUN_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final int CHANGES_ONLY = 100;

    private static void requireGraph(RedisTao redis) {
        long[] back = new long[DATA.nodes()];
        for (int node = 0; node < DATA.nodes(); node++) {
            int[] drawn = DATA.drawn(node);
            assertEquals(drawn.length, redis.count(node, LinkBenchGraph.TYPE));
            for (int to : drawn) {
                back[to]++;
            }
        }
        int inverse = LinkBenchGraph.SHAPE.inverses().get(LinkBenchGraph.TYPE);
        for (int node = 0; node < DATA.nodes(); node++) {
            assertEquals(back[node], redis.count(node, inverse));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldKeepAGraphWhoseAssociationsLeadBothWays(int replicas) {
        Optional<Path> program = ServerProcess.find("redis-server");
        Assumptions.assumeTrue(program.isPresent(), "redis-server is not installed");
        try (RedisTao redis = RedisTao.start(program.orElseThrow(), replicas, DATA)) {
            requireGraph(redis);
            RedisTao.Result reads = redis.measure(0, 4, RUN_NS, RUN_NS, 1);
            assertTrue(reads.run().latencies().getTotalCount() >= 4);
            requireGraph(redis);
            RedisTao.Result changes = redis.measure(CHANGES_ONLY, 4, RUN_NS, RUN_NS, 1);
            assertTrue(changes.run().latencies().getTotalCount() >= 4);
            long forth = 0;
            long back = 0;
            for (int node = 0; node < DATA.nodes(); node++) {
                forth += redis.count(node, LinkBenchGraph.TYPE);
                back += redis.count(node, 1);
            }
            assertEquals(forth, back);
            assertTrue(redis.promise().contains(replicas == 0 ? "a crash loses" : "2 machines"), redis::promise);
        }
    }
}
