package org.softrdma.farm.graph;

import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * A graph to measure by, as in the paper: LinkBench's, with its default degrees and lengths of data (FBWorkload.properties and
 * Distribution.dat of LinkBench). Each node has as many associations of one type as LinkBench's table says, to nodes that are
 * drawn uniformly, and each has an inverse. Nodes are numbers here. Immutable.
 *
 * <p>LinkBench's table goes on to 961 963 associations for one node in a billion, with a mean of 4.1. Here it ends at {@link
 * #MOST_DEGREE}, or at a tenth of the nodes if that is less: the mean is 1.7. LinkBench's lengths are of these medians, ours
 * are these.
 *
 * @param nodes how many it has
 * @param seed decides all of it
 */
public record LinkBenchGraph(int nodes, long seed) {
    /** Associations of one type, and those that lead back. */
    public static final GraphShape SHAPE = new GraphShape(List.of(1, 0), 1 << 10);

    /** The type that leads from a node to those that were drawn for it. */
    public static final int TYPE = 0;

    /** Bytes of data of a node. */
    public static final int NODE_DATA = 128;

    /** Bytes of data of an association. */
    public static final int EDGE_DATA = 8;

    /** The most associations that were drawn for one node. */
    public static final int MOST_DEGREE = 1000;

    /** Degrees of LinkBench's table, and the percentage of nodes that have no more; between them it is interpolated. */
    private static final int[] DEGREES = {
        0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000
    };

    private static final double[] PERCENT = {
        45.33160573, 77.46259112, 86.95805953, 91.99305428, 94.4507991, 95.82807169, 96.72252805, 97.32008855,
                97.76142319,
        98.32803368, 98.70025671, 99.02687903, 99.3269556, 99.55693901, 99.72156049, 99.79627489, 99.83136115,
                99.86621857,
        99.88513523, 99.90606634, 99.92746369, 99.94163266, 99.95065916
    };

    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;
    private static final int TENTH = 10;
    private static final double HUNDRED = 100;

    /** Checks. */
    public LinkBenchGraph {
        if (nodes < 2) {
            throw new IllegalArgumentException("nodes=" + nodes + ": expected at least 2");
        }
    }

    /** What decides the associations of a node. */
    private RandomGenerator random(int node) {
        return new SplittableRandom(seed + node * SPREAD);
    }

    /** The nodes that the associations of a node lead to, each once; never to itself. */
    public int[] drawn(int node) {
        RandomGenerator random = random(node);
        int degree = degree(random.nextDouble(HUNDRED));
        return random.ints(0, nodes)
                .filter(other -> other != node)
                .distinct()
                .limit(degree)
                .toArray();
    }

    private int degree(double percent) {
        int step = 0;
        while (step < PERCENT.length && PERCENT[step] < percent) {
            step++;
        }
        int degree;
        if (step == 0) {
            degree = 0;
        } else if (step == PERCENT.length) {
            degree = MOST_DEGREE;
        } else {
            double part = (percent - PERCENT[step - 1]) / (PERCENT[step] - PERCENT[step - 1]);
            degree = DEGREES[step - 1] + (int) Math.ceil(part * (DEGREES[step] - DEGREES[step - 1]));
        }
        return Math.min(degree, Math.max(1, nodes / TENTH));
    }
}
