package org.softrdma.cli.farm;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.softrdma.bench.workload.KeyChoice;
import org.softrdma.farm.graph.LinkBenchGraph;

/**
 * Draws Tao's operations. Nodes are drawn by Zipf's law, of 0.625 for the nodes themselves and 0.8 for their associations, as in
 * LinkBench. One thread.
 */
final class TaoChoice {
    /** The most associations that are asked for. */
    static final int RANGE = 1000;
    /** Those of some time that are asked for. */
    static final int NEWEST = 50;

    private static final double NODE_SKEW = 0.625;
    private static final double LINK_SKEW = 0.8;
    /** Nodes that are looked for: LinkBench's mean is 2.6. */
    private static final int MOST_WANTED = 5;

    private static final int KEPT = 200;
    private static final int PERCENT = 100;

    private final int count;
    private final int updatePercent;
    private final SplittableRandom random;
    private final KeyChoice nodes;
    private final KeyChoice links;
    private final Deque<int[]> addedEdges = new ArrayDeque<>();
    private TaoOperation operation = TaoOperation.OBJ_GET;
    private int node;
    private int type;
    private int[] others = {};
    private long time;

    /**
     * None yet.
     *
     * @param count nodes that there are
     * @param updatePercent how many of 100 operations are changes
     * @param seed decides which
     */
    TaoChoice(int count, int updatePercent, long seed) {
        this.count = count;
        this.updatePercent = updatePercent;
        random = new SplittableRandom(seed);
        nodes = new KeyChoice(count, NODE_SKEW, seed);
        links = new KeyChoice(count, LINK_SKEW, seed + 1);
        time = System.currentTimeMillis();
    }

    /**
     * Draws the next.
     *
     * @param addedNodes how many nodes were added and not removed
     */
    void next(int addedNodes) {
        boolean change = random.nextInt(PERCENT) < updatePercent;
        operation = TaoOperation.of(random.nextDouble(TaoOperation.all()), change);
        type = random.nextInt(LinkBenchGraph.SHAPE.types());
        switch (operation) {
            case OBJ_GET, OBJ_UPDATE, OBJ_DELETE -> node = nodes.next();
            case ASSOC_RANGE, ASSOC_COUNT, ASSOC_TIME_RANGE, ASSOC_DELETE -> node = links.next();
            case ASSOC_GET -> {
                node = links.next();
                others = random.ints(Math.min(count, 1 + random.nextInt(MOST_WANTED)), 0, count)
                        .distinct()
                        .toArray();
            }
            case ASSOC_ADD -> changeEdge();
            case OBJ_ADD -> {
                node = nodes.next();
                operation = addedNodes >= KEPT ? TaoOperation.OBJ_DELETE : TaoOperation.OBJ_ADD;
            }
        }
    }

    private void changeEdge() {
        type = LinkBenchGraph.TYPE;
        if (addedEdges.size() >= KEPT) {
            int[] edge = addedEdges.remove();
            operation = TaoOperation.ASSOC_DELETE;
            node = edge[0];
            others = new int[] {edge[1]};
        } else {
            node = links.next();
            others = new int[] {random.nextInt(count)};
            addedEdges.add(new int[] {node, others[0]});
            time++;
        }
    }

    /** Which it is. */
    TaoOperation operation() {
        return operation;
    }

    /** The node that it is about, or that a new one is near. */
    int node() {
        return node;
    }

    /** The type of its associations. */
    int type() {
        return type;
    }

    /** The nodes that they lead to: those of {@code assoc_get}, or the one of a change. */
    int[] others() {
        return others;
    }

    /** The time of an association that is added. */
    long time() {
        return time;
    }

    /** New data of a node. */
    byte[] data() {
        byte[] data = new byte[LinkBenchGraph.NODE_DATA];
        random.nextBytes(data);
        return data;
    }
}
