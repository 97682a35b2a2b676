package org.softrdma.cluster;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Stat;

/**
 * A session of ZooKeeper, and calls that wait for their answers: what joins and what looks has nothing else to do
 * meanwhile. One thread.
 */
final class ClusterClient implements AutoCloseable {
    private static final int CLOSE_MS = 1000;

    private final ZooKeeper client;
    private final String servers;

    private ClusterClient(ZooKeeper client, String servers) {
        this.client = client;
        this.servers = servers;
    }

    private interface Call<T> {
        T run() throws KeeperException, InterruptedException;
    }

    /**
     * Opens a session.
     *
     * @param servers as {@code host:port,host:port}
     * @param sessionMs its length, which ZooKeeper may change
     * @param timeoutNs longest wait for a server
     * @param watcher told of the session, by a thread of ZooKeeper
     */
    static ClusterClient open(String servers, int sessionMs, long timeoutNs, Watcher watcher) {
        CountDownLatch connected = new CountDownLatch(1);
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
        try {
            ZooKeeper client = new ZooKeeper(
                    servers,
                    sessionMs,
                    event -> {
                        if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                            connected.countDown();
                        }
                        watcher.process(event);
                    },
                    config);
            ClusterClient opened = new ClusterClient(client, servers);
            if (!opened.waits(connected, timeoutNs)) {
                opened.close();
                throw new ClusterException("no ZooKeeper answers at " + servers + " within "
                        + TimeUnit.NANOSECONDS.toMillis(timeoutNs)
                        + " ms: start one there ('softrdma farm zookeeper' is enough to try), or name the"
                        + " right address");
            }
            return opened;
        } catch (IOException | IllegalArgumentException e) {
            throw new ClusterException("no ZooKeeper at " + servers + ": expected host:port,host:port,...", e);
        }
    }

    private boolean waits(CountDownLatch connected, long timeoutNs) {
        try {
            return connected.await(timeoutNs, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            close();
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while connecting to ZooKeeper at " + servers, e);
        }
    }

    /** For calls that do not wait. */
    ZooKeeper client() {
        return client;
    }

    private <T> T call(String what, Call<T> call) {
        try {
            return call.run();
        } catch (KeeperException e) {
            throw new ClusterException(
                    "ZooKeeper at " + servers + " does not " + what + ": "
                            + e.code().name().toLowerCase(Locale.ROOT),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while waiting for ZooKeeper", e);
        }
    }

    boolean exists(String path) {
        return call("answer for " + path, () -> client.exists(path, false)) != null;
    }

    /** When a node was made: no other one has this number in its ZooKeeper. */
    long madeAt(String path) {
        Stat stat = call("answer for " + path, () -> client.exists(path, false));
        if (stat == null) {
            throw new ClusterException("ZooKeeper has no node " + path + " any more");
        }
        return stat.getCzxid();
    }

    byte[] get(String path) {
        return call("give " + path, () -> client.getData(path, false, null));
    }

    /** What a node says, if there is one. */
    Optional<byte[]> find(String path) {
        return call("give " + path, () -> {
            try {
                return Optional.of(client.getData(path, false, null));
            } catch (KeeperException.NoNodeException e) {
                return Optional.empty();
            }
        });
    }

    /** Replaces what a node says; false if somebody else has done so meanwhile. */
    boolean replace(String path, UnaryOperator<byte[]> change) {
        return call("set " + path, () -> {
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
        return call("give " + path, () -> client.getChildren(path, false));
    }

    /** Makes a node if it is not there. */
    void createIfAbsent(String path, byte[] data) {
        boolean ignored = call("make " + path, () -> {
            try {
                client.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                return true;
            } catch (KeeperException.NodeExistsException e) {
                return false;
            }
        });
    }

    /** Makes a node that goes with this session; returns its path. */
    String createEphemeral(String path, byte[] data, boolean sequential) {
        CreateMode mode = sequential ? CreateMode.EPHEMERAL_SEQUENTIAL : CreateMode.EPHEMERAL;
        return call("make " + path, () -> client.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, mode));
    }

    /** From now on a watcher is told of changes of a node and of its children, until the session ends. */
    void watch(String path, Watcher watcher) {
        boolean ignored = call("watch " + path, () -> {
            client.addWatch(path, watcher, AddWatchMode.PERSISTENT);
            return true;
        });
    }

    /** Ends the session. */
    @Override
    public void close() {
        try {
            boolean ignored = client.close(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
