package org.softrdma.bench.server;

import static org.softrdma.bench.server.LineConnection.ascii;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.LoadChannel;
import org.softrdma.bench.workload.TransferChoice;

/**
 * Accounts in redis: a transfer is a Lua script, which the server runs alone. With replicas WAIT follows each, so whoever is
 * told knows that all of them have it. WAIT holds up its connection, so each transfer under way has one of its own. The thread
 * that started it.
 */
public final class RedisTransfers implements TransferStore {
    private static final ServerProcess.Resources RESOURCES = new ServerProcess.Resources(List.of(), 1, 1L << 28, 1024);
    private static final int CONNECT_MS = 10_000;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int INPUT = 1 << 12;
    private static final int OUTPUT = 1 << 10;
    private static final String MOVE =
            "redis.call('DECRBY', KEYS[1], ARGV[1]) redis.call('INCRBY', KEYS[2], ARGV[1]) return 1";
    private static final String OPEN =
            "for i = 0, ARGV[1] - 1 do redis.call('SET', 'account:' .. i, ARGV[2]) end return 1";
    private static final String SUM =
            "local sum = 0 for i = 0, ARGV[1] - 1 do sum = sum + redis.call('GET', 'account:' .. i) end return sum";

    private final List<ServerProcess> servers = new ArrayList<>();
    private final int replicas;
    private final int accounts;
    private final TransferChoice choice;
    private final LineConnection admin;
    private final String version;
    private final byte[] evaluate;
    private final byte[] wait;
    private final Selector selector;
    private final List<Connection> connections = new ArrayList<>();
    private Histogram latencies = Latencies.histogram();

    private RedisTransfers(Path program, int replicas, int accounts, long balance, long seed) {
        this.replicas = replicas;
        this.accounts = accounts;
        choice = new TransferChoice(accounts, seed);
        LineConnection asked = null;
        try {
            servers.add(ServerProcess.redis(program, RESOURCES));
            InetSocketAddress master = servers.getFirst().address();
            for (int i = 0; i < replicas; i++) {
                servers.add(ServerProcess.redis(
                        program,
                        RESOURCES,
                        List.of(
                                "--replicaof",
                                master.getHostString() + " " + master.getPort(),
                                "--repl-diskless-load",
                                "swapdb")));
            }
            try (RedisAdmin information = new RedisAdmin(master)) {
                version = information.version();
            }
            asked = new LineConnection(master);
            admin = asked;
            require("CONFIG", asked.ask("CONFIG SET repl-diskless-sync-delay 0"), "+OK");
            require("OPEN", asked.ask(command("EVAL", OPEN, "0", "" + accounts, "" + balance)), ":1");
            awaitReplicas();
            require("SCRIPT", asked.ask(command("SCRIPT", "LOAD", MOVE)), "$40");
            evaluate = ascii("*6\r\n" + bulk("EVALSHA") + bulk(asked.readLine()) + bulk("2"));
            wait = replicas == 0 ? new byte[0] : command("WAIT", "" + replicas, "0");
            selector = Selector.open();
        } catch (IOException | MeasurementException e) {
            if (asked != null) {
                asked.close();
            }
            servers.reversed().forEach(ServerProcess::close);
            throw e instanceof MeasurementException failure
                    ? failure
                    : new MeasurementException("no selector: " + e.getMessage(), e);
        }
    }

    /**
     * Starts it.
     *
     * @param program path of redis-server
     * @param replicas besides the server that transfers are made at
     * @param accounts how many
     * @param balance of each
     * @param seed decides the transfers
     */
    public static RedisTransfers start(Path program, int replicas, int accounts, long balance, long seed) {
        return new RedisTransfers(program, replicas, accounts, balance, seed);
    }

    private static String bulk(String text) {
        return "$" + text.length() + "\r\n" + text + "\r\n";
    }

    private static byte[] command(String... words) {
        return ascii("*" + words.length + "\r\n"
                + Stream.of(words).map(RedisTransfers::bulk).collect(Collectors.joining()));
    }

    private static void require(String what, String answer, String expected) {
        if (!answer.equals(expected)) {
            throw new MeasurementException("redis answered " + what + " with " + answer + ", and not " + expected);
        }
    }

    private void awaitReplicas() {
        long beganNs = System.nanoTime();
        while (!admin.ask("WAIT " + replicas + " 100").equals(":" + replicas)) {
            if (System.nanoTime() - beganNs > PATIENCE_NS) {
                throw new MeasurementException(
                        "redis's replicas do not follow within " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS) + " s");
            }
            require("SET", admin.ask("SET probe 1"), "+OK"); // something to wait for
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    /** One transfer at a time. */
    private final class Connection {
        private final LoadChannel channel;
        private final ByteBuffer input = ByteBuffer.allocateDirect(INPUT);
        private final ByteBuffer output = ByteBuffer.allocateDirect(OUTPUT);
        private long beganNs;

        Connection() throws IOException {
            channel = new LoadChannel(servers.getFirst().address(), CONNECT_MS, null);
            SelectionKey ignored = channel.register(selector, this);
        }

        void begin() throws IOException {
            choice.next();
            beganNs = System.nanoTime();
            output.clear();
            output.put(evaluate);
            putAccount(choice.from());
            putAccount(choice.to());
            output.put(ascii(bulk("" + choice.amount()))).put(wait).flip();
            if (!channel.write(output)) {
                throw new IOException("a connection takes no " + output.limit() + " bytes");
            }
        }

        private void putAccount(int number) {
            output.put(ascii(bulk("account:" + number)));
        }

        /** True if its transfer is over. */
        boolean receive() throws IOException {
            if (channel.read(input) < 0) {
                throw new IOException("redis closed a connection");
            }
            String text =
                    StandardCharsets.US_ASCII.decode(input.duplicate().flip()).toString();
            int lines = replicas == 0 ? 1 : 2;
            if (text.chars().filter(letter -> letter == '\n').count() < lines) {
                return false;
            }
            input.clear();
            String expected = replicas == 0 ? ":1\r\n" : ":1\r\n:" + replicas + "\r\n";
            if (!text.equals(expected)) {
                throw new IOException("redis answered a transfer with " + text.strip());
            }
            latencies.recordValue(Math.min(System.nanoTime() - beganNs, Latencies.HIGHEST_NS));
            return true;
        }

        void close() {
            try {
                channel.close();
            } catch (IOException e) {
                throw new MeasurementException("closing a connection: " + e.getMessage(), e);
            }
        }
    }

    @Override
    public String name() {
        return "redis " + version;
    }

    @Override
    public String promise() {
        return "serializable, as one thread does all; "
                + (replicas == 0
                        ? "one machine has it in memory, none on disk: a crash loses everything"
                        : replicas + 1
                                + " machines have it in memory, none on disk: WAIT says so, but nobody takes over"
                                + " by himself, and who does may lack what was told");
    }

    @Override
    public List<Long> processes() {
        return servers.stream().map(ServerProcess::pid).toList();
    }

    @Override
    public Run run(int window, long ns) {
        try {
            while (connections.size() < window) {
                connections.add(new Connection());
            }
            latencies = Latencies.histogram();
            long beganNs = System.nanoTime();
            for (Connection connection : connections.subList(0, window)) {
                connection.begin();
            }
            int underWay = window;
            while (underWay > 0) {
                int ignored = selector.select(TimeUnit.NANOSECONDS.toMillis(PATIENCE_NS));
                long nowNs = System.nanoTime();
                if (nowNs - beganNs > ns + PATIENCE_NS) {
                    throw new MeasurementException(underWay + " transfers are not over");
                }
                for (SelectionKey selected : selector.selectedKeys()) {
                    if (selected.attachment() instanceof Connection connection && connection.receive()) {
                        if (nowNs - beganNs < ns) {
                            connection.begin();
                        } else {
                            underWay--;
                        }
                    }
                }
                selector.selectedKeys().clear();
            }
            return new Run(System.nanoTime() - beganNs, latencies);
        } catch (IOException e) {
            throw new MeasurementException("redis: " + e.getMessage(), e);
        }
    }

    @Override
    public long sum() {
        String answer = admin.ask(command("EVAL", SUM, "0", "" + accounts));
        if (!answer.startsWith(":")) {
            throw new MeasurementException("redis answered the sum with " + answer);
        }
        return Long.parseLong(answer.substring(1));
    }

    @Override
    public void close() {
        connections.forEach(Connection::close);
        try {
            selector.close();
        } catch (IOException e) {
            throw new MeasurementException("closing a selector: " + e.getMessage(), e);
        }
        admin.close();
        servers.reversed().forEach(ServerProcess::close);
    }
}
