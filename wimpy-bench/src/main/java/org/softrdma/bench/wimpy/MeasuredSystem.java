package org.softrdma.bench.wimpy;

import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.server.ServerMeter;
import org.softrdma.bench.server.ServerProcess;
import org.softrdma.bench.workload.GetLoad;
import org.softrdma.bench.workload.TcpCommands;

/**
 * One way to get values, ready to be loaded.
 *
 * @param kind what it is for the comparison
 * @param name the server
 * @param provider the verbs provider; null if none is involved
 * @param protocol how a value is got
 * @param servers what is loaded: one process, or several of the same kind that take turns from round to round
 */
record MeasuredSystem(Kind kind, String name, @Nullable String provider, String protocol, List<Server> servers) {
    /** The name of our server in results. */
    static final String OURS = "softrdma";
    /** Ends the protocol of a server of this build where another one is measured too. */
    static final String THIS_BUILD = ", this build";
    /** Ends the protocol of a server of the other build. */
    static final String OTHER_BUILD = ", other build";

    /**
     * One process that serves GETs.
     *
     * @param load gets values
     * @param meter measures the process
     * @param responderReads READs that its device has served so far; null where there is no such thing
     * @param pid its process, on this machine; empty if it is elsewhere or of no interest
     */
    record Server(GetLoad load, ServerMeter meter, @Nullable LongSupplier responderReads, OptionalLong pid) {
        /** One that is not to be looked into. */
        Server(GetLoad load, ServerMeter meter, @Nullable LongSupplier responderReads) {
            this(load, meter, responderReads, OptionalLong.empty());
        }

        /** One of this machine. */
        static Server of(ServerProcess process, GetLoad load, @Nullable LongSupplier responderReads) {
            return new Server(load, process.meter(), responderReads, OptionalLong.of(process.pid()));
        }

        /** READs that the device has served so far; 0 where there is no such thing. */
        long reads() {
            return responderReads == null ? 0 : responderReads.getAsLong();
        }
    }

    /** Copies the list. */
    MeasuredSystem {
        servers = List.copyOf(servers);
        if (servers.isEmpty()) {
            throw new IllegalArgumentException(name + ", " + protocol + ": no server");
        }
    }

    /** A system with one server. */
    MeasuredSystem(Kind kind, String name, @Nullable String provider, String protocol, Server server) {
        this(kind, name, provider, protocol, List.of(server));
    }

    /** What a system is for the comparison. */
    enum Kind {
        /** Real memcached, which the others are compared with. */
        MEMCACHED(false),
        /** The same in TLS. */
        MEMCACHED_TLS(false),
        /** redis. */
        REDIS(false),
        /** {@code softrdma server} by its memcached port. */
        SOFTRDMA_TCP(true),
        /** The same in TLS. */
        SOFTRDMA_TLS(true),
        /** {@code softrdma server} by one-sided READ over TCP. */
        SOFTRDMA_READ(true),
        /** The same by the client's own thread, in memory that both have mapped. */
        SOFTRDMA_SAME_HOST(true),
        /** The C responder: what a READ costs at least. */
        FLOOR(false);

        private final boolean compiles;

        Kind(boolean compiles) {
            this.compiles = compiles;
        }

        /** True if the server is a JVM, which gets faster while it runs. */
        boolean compiles() {
            return compiles;
        }

        /** What its figures are compared with: memcached, in TLS if this is. */
        Kind yardstick() {
            return this == SOFTRDMA_TLS || this == MEMCACHED_TLS ? MEMCACHED_TLS : MEMCACHED;
        }
    }

    /** The server whose turn it is in a round, counted from 0. */
    Server server(int round) {
        return servers.get(round % servers.size());
    }

    /** The name in tables and figures. */
    String label() {
        return name + ", " + protocol;
    }

    /** False if it would only repeat another system with this window. */
    boolean fits(int window) {
        return window > 1 || !protocol.equals(TcpCommands.MULTI_KEY.getLabel());
    }
}
