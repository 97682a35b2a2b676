package org.softrdma.cli.farm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.server.RedisServers;
import org.softrdma.bench.server.RespConnections;
import org.softrdma.bench.server.StoreRun;
import org.softrdma.farm.graph.LinkBenchGraph;

/**
 * Tao's operations on the same graph in redis. A node is a string; a list is a sorted set of the nodes that its associations lead
 * to, by time, and a hash of their data. What touches more than one key is a Lua script, and WAIT follows each change where there
 * are replicas. One thread.
 */
final class RedisTao implements AutoCloseable {
    private static final int BATCH = 500;
    private static final double P50 = 50;
    private static final double P99 = 99;
    private static final double NS_PER_US = 1e3;
    private static final String DATA = "d".repeat(LinkBenchGraph.NODE_DATA);
    private static final String EDGE = "e".repeat(LinkBenchGraph.EDGE_DATA);
    private static final String NODES =
            "for i = ARGV[1], ARGV[2] - 1 do redis.call('SET', 'n:' .. i, ARGV[3]) end return 1";
    /** What follows a list of nodes and times, to have the data too. */
    private static final String WITH_DATA =
            " if #r == 0 then return r end local to = {} for i = 1, #r, 2 do to[#to + 1] = r[i] end"
                    + " return {r, redis.call('HMGET', KEYS[2], unpack(to))}";

    private static final String RANGE =
            "local r = redis.call('ZREVRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')" + WITH_DATA;
    private static final String TIME_RANGE =
            "local r = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', '-inf', 'WITHSCORES', 'LIMIT', 0, ARGV[1])"
                    + WITH_DATA;
    private static final String FIND = "local r = {} for i, to in ipairs(ARGV) do r[i] ="
            + " {redis.call('ZSCORE', KEYS[1], to), redis.call('HGET', KEYS[2], to)} end return r";
    private static final String ADD =
            "redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2]) redis.call('HSET', KEYS[2], ARGV[2],"
                    + " ARGV[4]) redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1]) redis.call('HSET', KEYS[4], ARGV[1], ARGV[4])"
                    + " return 1";
    private static final String DELETE = "redis.call('ZREM', KEYS[1], ARGV[2]) redis.call('HDEL', KEYS[2], ARGV[2])"
            + " redis.call('ZREM', KEYS[3], ARGV[1]) redis.call('HDEL', KEYS[4], ARGV[1]) return 1";

    private final LinkBenchGraph data;
    private final RedisServers servers;
    private final RespConnections connections;
    private final String range;
    private final String timeRange;
    private final String find;
    private final String add;
    private final String delete;

    private RedisTao(RedisServers servers, LinkBenchGraph data) {
        this.servers = servers;
        this.data = data;
        range = servers.load(RANGE);
        timeRange = servers.load(TIME_RANGE);
        find = servers.load(FIND);
        add = servers.load(ADD);
        delete = servers.load(DELETE);
        for (int from = 0; from < data.nodes(); from += BATCH) {
            long ignored = servers.ask("EVAL", NODES, "0", "" + from, "" + Math.min(data.nodes(), from + BATCH), DATA);
        }
        for (int node = 0; node < data.nodes(); node++) {
            int[] drawn = data.drawn(node);
            for (int i = 0; i < drawn.length; i++) {
                long ignored = servers.ask(edge(add, node, LinkBenchGraph.TYPE, drawn[i], "" + i, EDGE));
            }
        }
        connections = new RespConnections(servers.master());
    }

    /**
     * Starts redis and loads the graph.
     *
     * @param program path of redis-server
     * @param replicas besides the server that is asked
     * @param data the graph
     */
    static RedisTao start(Path program, int replicas, LinkBenchGraph data) {
        RedisServers servers = RedisServers.start(program, replicas);
        try {
            return new RedisTao(servers, data);
        } catch (MeasurementException e) {
            servers.close();
            throw e;
        }
    }

    private static String list(int node, int type) {
        return "a:" + node + ":" + type;
    }

    private static String listData(int node, int type) {
        return "d:" + node + ":" + type;
    }

    /** A change of an association and of the one that leads back. */
    private static String[] edge(String script, int from, int type, int to, String... further) {
        int inverse = LinkBenchGraph.SHAPE.inverses().get(type);
        List<String> words = new ArrayList<>(List.of(
                "EVALSHA",
                script,
                "4",
                list(from, type),
                listData(from, type),
                list(to, inverse),
                listData(to, inverse),
                "" + from,
                "" + to));
        words.addAll(List.of(further));
        return words.toArray(String[]::new);
    }

    /** What it promises. */
    String promise() {
        return servers.name() + ": " + servers.promise();
    }

    /**
     * What came of a run.
     *
     * @param system name of the store
     * @param updatePercent how many of 100 operations were changes
     * @param run what was done
     * @param cpuNs of all processes
     */
    record Result(String system, int updatePercent, StoreRun run, long cpuNs) {
        private double micros(double percentile) {
            return run.latencies().getValueAtPercentile(percentile) / NS_PER_US;
        }

        private double cpuMicros() {
            return cpuNs / NS_PER_US / run.latencies().getTotalCount();
        }

        ObjectNode json(ObjectMapper mapper, int replicas) {
            return mapper.createObjectNode()
                    .put("system", system)
                    .put("replicas", replicas)
                    .put("updatePercent", updatePercent)
                    .put("operations", run.latencies().getTotalCount())
                    .put("operationsPerSecond", run.perSecond())
                    .put("p50Micros", micros(P50))
                    .put("p99Micros", micros(P99))
                    .put("cpuMicrosPerOperation", cpuMicros());
        }

        String text(int replicas) {
            return String.format(
                    Locale.ROOT,
                    "%s, replicas %d, updates %d %%: %,.0f operations/s, p50 %.0f us, p99 %.0f us; CPU of all processes"
                            + " %.1f us an operation",
                    system,
                    replicas,
                    updatePercent,
                    run.perSecond(),
                    micros(P50),
                    micros(P99),
                    cpuMicros());
        }
    }

    /**
     * Measures operations.
     *
     * @param updatePercent how many of 100 are changes
     * @param window how many are under way
     * @param warmUpNs before it is measured
     * @param measuredNs how long it is measured
     * @param seed decides which operations
     */
    Result measure(int updatePercent, int window, long warmUpNs, long measuredNs, long seed) {
        Operations operations = new Operations(new TaoChoice(data.nodes(), updatePercent, seed));
        StoreRun ignored = connections.run(window, warmUpNs, operations);
        ProcessesCpu cpu = ProcessesCpu.ofThisAnd(servers.processes());
        StoreRun run = connections.run(window, measuredNs, operations);
        return new Result(servers.name(), updatePercent, run, cpu.usedNs());
    }

    /** How many associations of a type a node has. */
    long count(int node, int type) {
        return servers.ask("ZCARD", list(node, type));
    }

    private final class Operations implements RespConnections.Operations {
        private final TaoChoice choice;
        /** Nodes that were added have the next numbers; the oldest of them is removed first. */
        private int firstAdded = data.nodes();

        private int nextAdded = firstAdded;
        /** Connections whose operation is a change that waits for replicas. */
        private final BitSet waiting = new BitSet();

        private final String waited = "\r\n:" + servers.replicas() + "\r\n";

        Operations(TaoChoice choice) {
            this.choice = choice;
        }

        @Override
        public int begin(int connection, ByteBuffer output) {
            choice.next(nextAdded - firstAdded);
            RespConnections.put(output, command());
            boolean waits = choice.operation().isChange() && servers.replicas() > 0;
            if (waits) {
                RespConnections.put(output, "WAIT", "" + servers.replicas(), "0");
            }
            waiting.set(connection, waits);
            return waits ? 2 : 1;
        }

        private String[] command() {
            int node = choice.node();
            String list = list(node, choice.type());
            String listData = listData(node, choice.type());
            return switch (choice.operation()) {
                case OBJ_GET -> new String[] {"GET", "n:" + node};
                case ASSOC_COUNT -> new String[] {"ZCARD", list};
                case ASSOC_RANGE -> new String[] {"EVALSHA", range, "2", list, listData, "" + TaoChoice.RANGE};
                case ASSOC_TIME_RANGE ->
                    new String[] {"EVALSHA", timeRange, "2", list, listData, "" + TaoChoice.NEWEST};
                case ASSOC_GET -> {
                    List<String> words = new ArrayList<>(List.of("EVALSHA", find, "2", list, listData));
                    for (int other : choice.others()) {
                        words.add("" + other);
                    }
                    yield words.toArray(String[]::new);
                }
                case ASSOC_ADD -> edge(add, node, choice.type(), choice.others()[0], "" + choice.time(), EDGE);
                case ASSOC_DELETE -> edge(delete, node, choice.type(), choice.others()[0]);
                case OBJ_UPDATE -> new String[] {"SET", "n:" + node, DATA};
                case OBJ_ADD -> new String[] {"SET", "n:" + nextAdded++, DATA};
                case OBJ_DELETE -> new String[] {"DEL", "n:" + firstAdded++};
            };
        }

        @Override
        public void end(int connection, ByteBuffer replies, long latencyNs) {
            boolean isMissing = replies.get(0) == '$' && replies.get(1) == '-';
            if (isMissing || (waiting.get(connection) && !endsWith(replies, waited))) {
                throw new MeasurementException("redis has no such node, or not all of its replicas have a change: "
                        + StandardCharsets.US_ASCII.decode(replies).toString().strip());
            }
        }

        private static boolean endsWith(ByteBuffer replies, String end) {
            for (int i = 0; i < end.length(); i++) {
                if (replies.get(replies.limit() - end.length() + i) != end.charAt(i)) {
                    return false;
                }
            }
            return true;
        }
    }

    @Override
    public void close() {
        connections.close();
        servers.close();
    }
}
