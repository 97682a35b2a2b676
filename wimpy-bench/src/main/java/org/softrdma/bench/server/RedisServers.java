package org.softrdma.bench.server;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.softrdma.bench.measurement.MeasurementException;

/** A redis, and replicas that follow it, as children of this process. One thread. */
public final class RedisServers implements AutoCloseable {
    private static final ServerProcess.Resources RESOURCES = new ServerProcess.Resources(List.of(), 1, 1L << 28, 1024);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int COMMAND = 1 << 14;

    private final List<ServerProcess> servers = new ArrayList<>();
    private final int replicas;
    private final LineConnection admin;
    private final String version;

    private RedisServers(Path program, int replicas) {
        this.replicas = replicas;
        LineConnection asked = null;
        try {
            servers.add(ServerProcess.redis(program, RESOURCES));
            for (int i = 0; i < replicas; i++) {
                servers.add(ServerProcess.redis(
                        program,
                        RESOURCES,
                        List.of(
                                "--replicaof",
                                master().getHostString() + " " + master().getPort(),
                                "--repl-diskless-load",
                                "swapdb")));
            }
            try (RedisAdmin information = new RedisAdmin(master())) {
                version = information.version();
            }
            asked = new LineConnection(master());
            admin = asked;
            require("CONFIG", admin.ask("CONFIG SET repl-diskless-sync-delay 0"), "+OK");
            awaitReplicas();
        } catch (MeasurementException e) {
            if (asked != null) {
                asked.close();
            }
            servers.reversed().forEach(ServerProcess::close);
            throw e;
        }
    }

    /**
     * Starts them.
     *
     * @param program path of redis-server
     * @param replicas besides the server that is asked
     */
    public static RedisServers start(Path program, int replicas) {
        return new RedisServers(program, replicas);
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

    /** The server that is asked. */
    public InetSocketAddress master() {
        return servers.getFirst().address();
    }

    /** How many replicas follow it. */
    public int replicas() {
        return replicas;
    }

    /** Name and version. */
    public String name() {
        return "redis " + version;
    }

    /** What it promises whoever was told that a change is made. */
    public String promise() {
        return "serializable, as one thread does all; "
                + (replicas == 0
                        ? "one machine has it in memory, none on disk: a crash loses everything"
                        : replicas + 1
                                + " machines have it in memory, none on disk: WAIT says so, but no replica takes over"
                                + " by itself, and the one that does may lack what was acknowledged");
    }

    /** Process numbers. */
    public List<Long> processes() {
        return servers.stream().map(ServerProcess::pid).toList();
    }

    /**
     * Asks one command for an integer.
     *
     * @param words name and arguments
     */
    public long ask(String... words) {
        String answer = line(words);
        if (!answer.startsWith(":")) {
            throw new MeasurementException("redis answered " + words[0] + " with " + answer);
        }
        return Long.parseLong(answer.substring(1));
    }

    /**
     * Makes a script known.
     *
     * @param script in Lua
     * @return what EVALSHA names it by
     */
    public String load(String script) {
        String length = line("SCRIPT", "LOAD", script);
        if (!length.equals("$40")) {
            throw new MeasurementException("redis answered SCRIPT with " + length);
        }
        return admin.readLine();
    }

    private String line(String... words) {
        ByteBuffer command = ByteBuffer.allocate(COMMAND);
        RespConnections.put(command, words);
        byte[] bytes = new byte[command.flip().remaining()];
        command.get(bytes);
        return admin.ask(bytes);
    }

    @Override
    public void close() {
        admin.close();
        servers.reversed().forEach(ServerProcess::close);
    }
}
