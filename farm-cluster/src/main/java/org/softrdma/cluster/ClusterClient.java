package org.softrdma.cluster;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A session of ZooKeeper, and calls that wait for their answers: what joins and what looks has nothing else to do
 * meanwhile. One thread.
 *
 * <p>A client of ZooKeeper gives up by itself when it has heard nothing for 4/3 of a session, and says then what it says
 * when a server has ended the session ({@code ClientCnxn.SendThread.run} of 3.9.5). But servers that are away end nothing,
 * and a new leader counts every session from its beginning. So whoever gives up is replaced by a new client of the same
 * session, until a server has said what became of it.
 */
final class ClusterClient implements AutoCloseable {
    private static final int CLOSE_MS = 1000;
    /** ZooKeeper's own pause between two rounds of all servers is a second, besides another one drawn at random. */
    private static final long ROUND_MS = 50;

    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final String servers;
    private final int sessionMs;
    private final long timeoutNs;
    private final SessionEvents events;
    private final CountDownLatch connected = new CountDownLatch(1);
    private final Map<String, Watcher> watches = new ConcurrentHashMap<>();
    /** Held while a client begins, so that it is heard only when it is the current one. */
    private final Lock beginning = new ReentrantLock();

    private @Nullable Life current;
    private boolean closed;
    private volatile boolean hasEnded;

    private ClusterClient(String servers, int sessionMs, long timeoutNs, SessionEvents events) {
        this.servers = servers;
        this.sessionMs = sessionMs;
        this.timeoutNs = timeoutNs;
        this.events = events;
    }

    private interface Call<T> {
        T run(ZooKeeper client) throws KeeperException, InterruptedException;
    }

    /** Hears of a session, by threads of ZooKeeper. */
    interface SessionEvents {
        /** Nobody asks. */
        SessionEvents NONE = new SessionEvents() {
            @Override
            public void onConnected(ZooKeeper client) {
                // nobody asks
            }

            @Override
            public void onDisconnected() {
                // nobody asks
            }

            @Override
            public void onEnd() {
                // nobody asks
            }
        };

        /** A server has it. No watch has told what happened while none had it. */
        void onConnected(ZooKeeper client);

        /** No server is known to have it. */
        void onDisconnected();

        /** A server has said that it has ended. */
        void onEnd();
    }

    /** One client of the session, until it gives up. Its own thread. */
    private final class Life implements Watcher {
        private final ZooKeeper client;
        private final long begunNs = System.nanoTime();
        private boolean wasConnected;
        private boolean isResumed;

        Life(@Nullable Life before) throws IOException {
            isResumed = before == null;
            ZKClientConfig config = new ZKClientConfig();
            config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
            HostProvider hosts = new Rounds(servers);
            client = before == null
                    ? new ZooKeeper(servers, sessionMs, this, false, hosts, config)
                    : new ZooKeeper(
                            servers,
                            sessionMs,
                            this,
                            before.client.getSessionId(),
                            before.client.getSessionPasswd(),
                            false,
                            hosts,
                            config);
        }

        @Override
        public void process(WatchedEvent event) {
            if (event.getType() != Event.EventType.None || current() != this) {
                return;
            }
            switch (event.getState()) {
                case SyncConnected -> {
                    wasConnected = true;
                    if (isResumed) {
                        isConnected();
                    } else {
                        resume();
                    }
                }
                case Disconnected -> events.onDisconnected();
                case Expired -> {
                    if (hasGivenUp()) {
                        replace();
                    } else {
                        end();
                    }
                }
                case AuthFailed, Closed -> end();
                default -> {
                    // nothing that concerns a session for writing
                }
            }
        }

        /** A server says that a session has ended by one of no length; a client that never had an answer has none either. */
        private boolean hasGivenUp() {
            long lastedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNs);
            return client.getSessionTimeout() > 0 || (!wasConnected && lastedMs >= sessionMs);
        }

        private void replace() {
            events.onDisconnected();
            try {
                begin(this);
            } catch (IOException e) {
                end(); // this process cannot have another client
            }
        }

        private void end() {
            hasEnded = true;
            events.onEnd();
        }

        private void isConnected() {
            connected.countDown();
            events.onConnected(client);
        }

        /** Nothing older than what its predecessor has seen, and the same watches. */
        private void resume() {
            client.sync(
                    "/", (rc, path, context) -> resume(rc, watches.entrySet().iterator()), null);
        }

        private void resume(int rc, Iterator<Map.Entry<String, Watcher>> rest) {
            if (rc == KeeperException.Code.OK.intValue()) {
                watchNext(rest);
            } // else an event tells how it goes on
        }

        private void watchNext(Iterator<Map.Entry<String, Watcher>> rest) {
            if (rest.hasNext()) {
                Map.Entry<String, Watcher> next = rest.next();
                client.addWatch(
                        next.getKey(),
                        next.getValue(),
                        AddWatchMode.PERSISTENT,
                        (rc, path, context) -> resume(rc, rest),
                        null);
            } else {
                isResumed = true;
                isConnected();
            }
        }
    }

    /** The servers in turn, with short pauses: a session of 2 s shall not end because nobody has asked in time. */
    private static final class Rounds implements HostProvider {
        private final HostProvider hosts;

        Rounds(String servers) {
            hosts = new StaticHostProvider(new ConnectStringParser(servers).getServerAddresses());
        }

        @Override
        public int size() {
            return hosts.size();
        }

        @Override
        public InetSocketAddress next(long pauseMs) {
            return hosts.next(Math.min(pauseMs, ROUND_MS));
        }

        @Override
        public void onConnected() {
            hosts.onConnected();
        }

        @Override
        public boolean updateServerList(Collection<InetSocketAddress> addresses, InetSocketAddress at) {
            return hosts.updateServerList(addresses, at);
        }
    }

    /**
     * Opens a session.
     *
     * @param servers as {@code host:port,host:port}
     * @param sessionMs its length, which ZooKeeper may change
     * @param timeoutNs longest wait for a server, and for the answer of each call
     * @param events told of the session
     */
    static ClusterClient open(String servers, int sessionMs, long timeoutNs, SessionEvents events) {
        ClusterClient opened = new ClusterClient(servers, sessionMs, timeoutNs, events);
        try {
            opened.begin(null);
        } catch (IOException | IllegalArgumentException e) {
            throw new ClusterException("no ZooKeeper at " + servers + ": expected host:port,host:port,...", e);
        }
        if (!opened.waits()) {
            opened.close();
            throw new ClusterException("no ZooKeeper answers at " + servers + " within "
                    + TimeUnit.NANOSECONDS.toMillis(timeoutNs)
                    + " ms: start one there ('softrdma farm zookeeper' is enough to try), or name the"
                    + " right address");
        }
        return opened;
    }

    private boolean waits() {
        try {
            return connected.await(timeoutNs, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            close();
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while connecting to ZooKeeper at " + servers, e);
        }
    }

    private void begin(@Nullable Life before) throws IOException {
        beginning.lock();
        try {
            if (!closed) {
                current = new Life(before);
            }
        } finally {
            beginning.unlock();
        }
    }

    private Life current() {
        beginning.lock();
        try {
            return Objects.requireNonNull(current);
        } finally {
            beginning.unlock();
        }
    }

    /** For calls that do not wait: the client of now. */
    ZooKeeper client() {
        return current().client;
    }

    /** True if a call has an answer, and need not be made again. That a session has ended is said by an event only. */
    static boolean isAnswered(KeeperException.Code code) {
        return switch (code) {
            case CONNECTIONLOSS,
                    SESSIONEXPIRED,
                    AUTHFAILED,
                    OPERATIONTIMEOUT,
                    REQUESTTIMEOUT,
                    SESSIONMOVED,
                    THROTTLEDOP -> false;
            default -> true;
        };
    }

    /** Makes a call until it has an answer: it may be made again although it has been done. */
    private <T> T call(String what, Call<T> call) {
        long beganNs = System.nanoTime();
        try {
            while (true) {
                try {
                    return call.run(client());
                } catch (KeeperException e) {
                    if (isAnswered(e.code()) || hasEnded || System.nanoTime() - beganNs >= timeoutNs) {
                        throw new ClusterException(
                                "ZooKeeper at " + servers + " does not " + what + ": "
                                        + e.code().name().toLowerCase(Locale.ROOT),
                                e);
                    }
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while waiting for ZooKeeper", e);
        }
    }

    boolean exists(String path) {
        return call("answer for " + path, client -> client.exists(path, false)) != null;
    }

    /** When a node was made: no other one has this number in its ZooKeeper. */
    long madeAt(String path) {
        Stat stat = call("answer for " + path, client -> client.exists(path, false));
        if (stat == null) {
            throw new ClusterException("ZooKeeper has no node " + path + " any more");
        }
        return stat.getCzxid();
    }

    /** How often a node was written since it was made, if there is one. */
    OptionalInt version(String path) {
        Stat stat = call("answer for " + path, client -> client.exists(path, false));
        return stat == null ? OptionalInt.empty() : OptionalInt.of(stat.getVersion());
    }

    byte[] get(String path) {
        return call("give " + path, client -> client.getData(path, false, null));
    }

    /** What a node says, if there is one. */
    Optional<byte[]> find(String path) {
        return call("give " + path, client -> {
            try {
                return Optional.of(client.getData(path, false, null));
            } catch (KeeperException.NoNodeException e) {
                return Optional.empty();
            }
        });
    }

    /** Replaces what a node says; false if somebody else has done so meanwhile. */
    boolean replace(String path, UnaryOperator<byte[]> change) {
        return call("set " + path, client -> {
            Stat stat = new Stat();
            byte[] before = client.getData(path, false, stat);
            try {
                client.setData(path, change.apply(before), stat.getVersion());
                return true;
            } catch (KeeperException.BadVersionException e) {
                return false;
            }
        });
    }

    List<String> children(String path) {
        return call("give " + path, client -> client.getChildren(path, false));
    }

    /** Makes a node if it is not there. */
    void createIfAbsent(String path, byte[] data) {
        boolean ignored = call("make " + path, client -> {
            try {
                client.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                return true;
            } catch (KeeperException.NodeExistsException e) {
                return false;
            }
        });
    }

    /** Makes a node that goes with this session, and that nobody else makes; returns its path. */
    String createEphemeral(String path, byte[] data, boolean sequential) {
        CreateMode mode = sequential ? CreateMode.EPHEMERAL_SEQUENTIAL : CreateMode.EPHEMERAL;
        return call("make " + path, client -> {
            try {
                return client.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
            } catch (KeeperException.NodeExistsException e) {
                return path; // the answer was lost before
            }
        });
    }

    /** From now on a watcher is told of changes of a node and of its children, until the session ends. */
    void watch(String path, Watcher watcher) {
        watches.put(path, watcher);
        boolean ignored = call("watch " + path, client -> {
            client.addWatch(path, watcher, AddWatchMode.PERSISTENT);
            return true;
        });
    }

    /** Ends the session. */
    @Override
    public void close() {
        beginning.lock();
        try {
            closed = true;
        } finally {
            beginning.unlock();
        }
        try {
            boolean ignored = client().close(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
