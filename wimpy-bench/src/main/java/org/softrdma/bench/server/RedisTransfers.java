package org.softrdma.bench.server;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.TransferChoice;

/**
 * Accounts in redis: a transfer is a Lua script, which the server runs alone. With replicas WAIT follows each, so whoever is
 * told knows that all of them have it. WAIT holds up its connection, so each transfer under way has one of its own. The thread
 * that started it.
 */
public final class RedisTransfers implements TransferStore {
    private static final String MOVE =
            "redis.call('DECRBY', KEYS[1], ARGV[1]) redis.call('INCRBY', KEYS[2], ARGV[1]) return 1";
    private static final String OPEN =
            "for i = 0, ARGV[1] - 1 do redis.call('SET', 'account:' .. i, ARGV[2]) end return 1";
    private static final String SUM =
            "local sum = 0 for i = 0, ARGV[1] - 1 do sum = sum + redis.call('GET', 'account:' .. i) end return sum";

    private final RedisServers servers;
    private final RespConnections connections;
    private final int accounts;
    private final Transfers transfers;

    private RedisTransfers(RedisServers servers, int accounts, long balance, long seed) {
        this.servers = servers;
        this.accounts = accounts;
        long ignored = servers.ask("EVAL", OPEN, "0", "" + accounts, "" + balance);
        transfers = new Transfers(servers.load(MOVE), servers.replicas(), new TransferChoice(accounts, seed));
        connections = new RespConnections(servers.master());
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
        RedisServers servers = RedisServers.start(program, replicas);
        try {
            return new RedisTransfers(servers, accounts, balance, seed);
        } catch (MeasurementException e) {
            servers.close();
            throw e;
        }
    }

    private record Transfers(String script, int replicas, TransferChoice choice) implements RespConnections.Operations {
        @Override
        public int begin(int connection, ByteBuffer output) {
            choice.next();
            RespConnections.put(
                    output,
                    "EVALSHA",
                    script,
                    "2",
                    "account:" + choice.from(),
                    "account:" + choice.to(),
                    "" + choice.amount());
            if (replicas == 0) {
                return 1;
            }
            RespConnections.put(output, "WAIT", "" + replicas, "0");
            return 2;
        }

        @Override
        public void end(int connection, ByteBuffer replies, long latencyNs) {
            String text = RespReply.text(replies, 0, replies.limit());
            if (!text.equals(replicas == 0 ? ":1\r\n" : ":1\r\n:" + replicas + "\r\n")) {
                throw new MeasurementException("redis answered a transfer with " + text.strip());
            }
        }
    }

    @Override
    public String name() {
        return servers.name();
    }

    @Override
    public String promise() {
        return servers.promise();
    }

    @Override
    public List<Long> processes() {
        return servers.processes();
    }

    @Override
    public StoreRun run(int window, long ns) {
        return connections.run(window, ns, transfers);
    }

    @Override
    public long sum() {
        return servers.ask("EVAL", SUM, "0", "" + accounts);
    }

    @Override
    public void close() {
        connections.close();
        servers.close();
    }
}
