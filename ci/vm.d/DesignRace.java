import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/**
 * Every store of the papers on a device of the guest: a server, one client that puts and removes, two that get, each value checked whole,
 * and that no GET gives a state older than one acknowledged before it began, or newer than one begun before it ended.
 *
 * <p>Arguments: HOST PROVIDER DEVICE SECONDS SEED. Prints a line for each design: what it did, or which feature the device has not. Ends
 * with 1 and a reason if anything is wrong.
 */
public final class DesignRace {
    private static final int KEYS = 16;
    private static final int READERS = 2;
    private static final int MOST_WORDS = 250;
    /** Every version that this divides is a removal. */
    private static final int REMOVALS = 5;

    /** FaRM keeps a block for each of its many sizes of values, which are too long for its table; small tables let keys move. */
    private static final Map<String, Map<String, String>> OPTIONS = Map.of(
            "farm", Map.of("values", "outline", "buckets", "64", "block", "16384"),
            "pilaf", Map.of("entries", "6", "extents", "18"),
            "pilaf-vo", Map.of("entries", "6", "extents", "18"));

    private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

    /** Of changes and of values found: a JVM that has just begun, in an emulated guest, may need seconds for its first one. */
    private static final int LEAST = 20;

    private final AtomicLongArray begun = new AtomicLongArray(KEYS);
    private final AtomicLongArray acknowledged = new AtomicLongArray(KEYS);
    private final AtomicReference<Throwable> fault = new AtomicReference<>();
    private final AtomicLong changes = new AtomicLong();
    private final AtomicLong found = new AtomicLong();
    private final AtomicLong missed = new AtomicLong();
    private final String host;
    private final StoreDesign design;
    private volatile int mostWords;
    private volatile boolean over;
    private volatile long earliestEndNs;
    private volatile long latestEndNs;

    private DesignRace(String host, StoreDesign design) {
        this.host = host;
        this.design = design;
    }

    public static void main(String[] arguments) throws InterruptedException {
        String device = arguments[2];
        long seconds = Long.parseLong(arguments[3]);
        long seed = Long.parseLong(arguments[4]);
        List<StoreDesign> designs = new ArrayList<>(StoreDesigns.all());
        designs.sort(Comparator.comparing(StoreDesign::name));
        for (StoreDesign design : designs) {
            try (VerbsDevice serverDevice = VerbsProviders.named(arguments[1]).open(Map.of("device", device));
                    VerbsDevice clientDevice = VerbsProviders.named(arguments[1]).open(Map.of("device", device))) {
                DesignRace race = new DesignRace(arguments[0], design);
                System.out.println(device + ": " + design.name() + ": " + race.run(serverDevice, clientDevice, seconds, seed));
            }
        }
    }

    private String run(VerbsDevice serverDevice, VerbsDevice clientDevice, long seconds, long seed) throws InterruptedException {
        mostWords = Math.min(MOST_WORDS, design.longestValue(serverDevice, Protocol.SAFE) / 8);
        StoreServer server;
        try {
            server = design.serve(
                    serverDevice,
                    new StoreServerContext(new InetSocketAddress(host, 0)).maxConnections(8).window(4).maxKeyLength(16).maxValueLength(8 * mostWords).options(OPTIONS.getOrDefault(design.name(), Map.of())).conclude());
        } catch (StoreException e) {
            return "cannot run: " + e.getMessage();
        }
        Thread serving = Thread.ofPlatform().start(() -> guarded(() -> {
            while (!over) {
                if (server.doWork() == 0) {
                    LockSupport.parkNanos(20_000);
                }
            }
            server.close();
        }));
        List<Thread> clients = new ArrayList<>();
        earliestEndNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        latestEndNs = earliestEndNs + LIMIT_NS;
        clients.add(client(clientDevice, server.address(), store -> write(store, new Random(seed))));
        for (int i = 1; i <= READERS; i++) {
            long ofReader = seed + i;
            clients.add(client(clientDevice, server.address(), store -> read(store, new Random(ofReader))));
        }
        for (Thread client : clients) {
            client.join();
        }
        over = true;
        serving.join();
        Throwable wrong = fault.get();
        if (wrong != null || !isEnough()) {
            System.out.println(design.name() + ": WRONG: " + (wrong == null ? "only " + changes + " changes, " + found + " values" : wrong.toString()));
            System.exit(1);
        }
        return changes + " changes, " + found + " values, " + missed + " misses";
    }

    private interface Work {
        void with(BlockingStore store);
    }

    private Thread client(VerbsDevice device, InetSocketAddress address, Work work) {
        return Thread.ofPlatform().start(() -> guarded(() -> {
            StoreClientContext context = new StoreClientContext(address).window(4).maxKeyLength(16).maxValueLength(8 * mostWords).timeoutNs(LIMIT_NS).connectTimeoutNs(LIMIT_NS);
            try (BlockingStore store = new BlockingStore(design.connect(device, context.conclude()))) {
                work.with(store);
            }
        }));
    }

    private void guarded(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            fault.compareAndSet(null, e);
        }
    }

    private boolean goesOn() {
        long nowNs = System.nanoTime();
        return fault.get() == null && nowNs - latestEndNs < 0 && (nowNs - earliestEndNs < 0 || !isEnough());
    }

    private boolean isEnough() {
        return changes.get() >= LEAST && found.get() >= LEAST;
    }

    private static byte[] name(int key) {
        return ("key" + key).getBytes(StandardCharsets.US_ASCII);
    }

    private void write(BlockingStore store, Random random) {
        while (goesOn()) {
            int key = random.nextInt(KEYS);
            long version = begun.incrementAndGet(key);
            if (version % REMOVALS == 0) {
                if (!store.remove(name(key))) {
                    throw new AssertionError("key " + key + " was not there, version " + version);
                }
            } else if (!store.put(name(key), value(key, version, 1 + random.nextInt(mostWords)))) {
                throw new AssertionError("no room for key " + key);
            }
            acknowledged.set(key, version);
            changes.incrementAndGet();
        }
    }

    private void read(BlockingStore store, Random random) {
        while (goesOn()) {
            int key = random.nextInt(KEYS);
            long least = acknowledged.get(key);
            Optional<byte[]> got = store.get(name(key));
            long most = begun.get(key);
            if (got.isPresent()) {
                found.incrementAndGet();
                long version = version(key, got.get());
                if (version < least || version > most || version % REMOVALS == 0) {
                    throw new AssertionError("key " + key + " has version " + version + ", expected " + least + " to " + most);
                }
            } else {
                missed.incrementAndGet();
                boolean mayBe = least == 0;
                for (long version = least; version <= most; version++) {
                    mayBe |= version % REMOVALS == 0;
                }
                if (!mayBe) {
                    throw new AssertionError("key " + key + " is missing, and was there from version " + least + " to " + most);
                }
            }
        }
    }

    private static byte[] value(int key, long version, int words) {
        ByteBuffer value = ByteBuffer.allocate(8 * words);
        for (int i = 0; i < words; i++) {
            value.putLong(version * KEYS + key + ((long) i << 48));
        }
        return value.array();
    }

    private static long version(int key, byte[] bytes) {
        ByteBuffer value = ByteBuffer.wrap(bytes);
        long first = value.getLong();
        for (long i = 1; value.hasRemaining(); i++) {
            long word = value.getLong();
            if (word != first + (i << 48)) {
                throw new AssertionError("key " + key + ": word " + i + " is of another value");
            }
        }
        if (Math.floorMod(first, KEYS) != key) {
            throw new AssertionError("key " + key + ": the value is another key's");
        }
        return (first - key) / KEYS;
    }
}
