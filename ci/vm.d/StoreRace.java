import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProviders;

/**
 * Values of 1 byte to 1 MB at a store, set and got back by READ; then races of set and delete with GETs by READ: one writer, two readers, each value checked whole, and that no GET gives a state
 * older than one acknowledged before it began, or newer than one begun before it ended.
 *
 * <p>Arguments: HOST PORT PROVIDER DEVICE SECONDS SEED. Prints a line of counts; ends with 1 and a reason if anything is wrong, or if
 * no GET was served by READ.
 */
public final class StoreRace {
    private static final int KEYS = 16;
    private static final int READERS = 2;
    private static final int MOST_BYTES = 20_000;
    private static final int[] SIZES = {1, 1000, 100_000, 1_000_000};
    /** Every version that this divides is a delete. */
    private static final int DELETES = 5;

    private final AtomicLongArray begun = new AtomicLongArray(KEYS);
    private final AtomicLongArray acknowledged = new AtomicLongArray(KEYS);
    private final AtomicReference<Throwable> fault = new AtomicReference<>();
    private final AtomicLong changes = new AtomicLong();
    private final AtomicLong gets = new AtomicLong();
    private final AtomicLong misses = new AtomicLong();
    private final AtomicLong oneSided = new AtomicLong();
    private final AtomicLong torn = new AtomicLong();
    private final AtomicLong forwarded = new AtomicLong();
    private final long endNs;
    private final long seed;

    private StoreRace(long seconds, long seed) {
        this.endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        this.seed = seed;
    }

    public static void main(String[] arguments) throws InterruptedException {
        InetSocketAddress server = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        long seed = Long.parseLong(arguments[5]);
        StoreRace race = new StoreRace(Long.parseLong(arguments[4]), seed);
        VerbsProvider provider = VerbsProviders.named(arguments[2]);
        try (VerbsDevice device = provider.open(Map.of("device", arguments[3]))) {
            race.start(device, server, race::values, 0).join();
            List<Thread> threads = new ArrayList<>();
            threads.add(race.start(device, server, race::write, 0));
            for (int i = 1; i <= READERS; i++) {
                threads.add(race.start(device, server, race::read, i));
            }
            for (Thread each : threads) {
                each.join();
            }
        }
        System.out.println("device " + arguments[3] + " seed " + seed + ": changes=" + race.changes + " gets=" + race.gets
                + " misses=" + race.misses + " one-sided=" + race.oneSided + " torn=" + race.torn + " forwarded="
                + race.forwarded);
        Throwable wrong = race.fault.get();
        if (wrong != null || race.oneSided.get() == 0) {
            if (wrong != null) {
                wrong.printStackTrace(System.out);
            }
            System.out.println("WRONG: " + (wrong == null ? "no GET was served by READ" : wrong));
            System.exit(1);
        }
    }

    private interface Work {
        void run(KvClient client, Random random);
    }

    private Thread start(VerbsDevice device, InetSocketAddress server, Work work, int number) {
        return Thread.ofPlatform().name("race-" + number).start(() -> {
            KvClientContext context = new KvClientContext(server)
                    .protocol(KvProtocol.RDMA)
                    .window(2)
                    .maxItemLength(1 << 21)
                    .connectTimeoutNs(TimeUnit.SECONDS.toNanos(60))
                    .requestTimeoutNs(TimeUnit.SECONDS.toNanos(60))
                    .conclude();
            try (KvClient client = KvClient.connect(device, context)) {
                work.run(client, new Random(seed * 31 + number));
                oneSided.addAndGet(client.counters().hits());
                torn.addAndGet(client.counters().torn());
                forwarded.addAndGet(client.counters().forwarded());
            } catch (Throwable e) {
                fault.compareAndSet(null, e);
            }
        });
    }

    private boolean goesOn() {
        return System.nanoTime() < endNs && fault.get() == null;
    }

    private static byte[] key(int number) {
        return ("race-" + number).getBytes(StandardCharsets.US_ASCII);
    }

    /** A value that tells its key and version, with a pattern that the two determine. */
    private static byte[] value(int key, long version) {
        Random pattern = new Random(key * 1_000_003L + version);
        ByteBuffer value = ByteBuffer.allocate(Long.BYTES + Integer.BYTES + pattern.nextInt(MOST_BYTES));
        value.putLong(version).putInt(key);
        while (value.hasRemaining()) {
            value.put((byte) pattern.nextInt());
        }
        return value.array();
    }

    private void values(KvClient client, Random random) {
        for (int size : SIZES) {
            byte[] key = ("size-" + size).getBytes(StandardCharsets.US_ASCII);
            byte[] value = new byte[size];
            random.nextBytes(value);
            SetStatus status = client.set(key, 0, 0, value);
            require(status == SetStatus.STORED, "set of " + size + " bytes gave " + status);
            long before = client.counters().hits();
            Optional<KvItem> item = client.get(key);
            require(item.isPresent() && java.util.Arrays.equals(value, item.get().value()), "the get of " + size + " bytes gave others");
            require(client.counters().hits() == before + 1, "the get of " + size + " bytes was not served by READ");
        }
    }

    private void write(KvClient client, Random random) {
        while (goesOn()) {
            int key = random.nextInt(KEYS);
            long version = begun.incrementAndGet(key);
            if (version % DELETES == 0) {
                require(client.delete(key(key)), "delete of key " + key + " version " + version + " found nothing");
            } else {
                SetStatus status = client.set(key(key), 0, 0, value(key, version));
                require(status == SetStatus.STORED, "set of key " + key + " version " + version + " gave " + status);
            }
            acknowledged.set(key, version);
            changes.incrementAndGet();
        }
    }

    private void read(KvClient client, Random random) {
        while (goesOn()) {
            int key = random.nextInt(KEYS);
            long least = acknowledged.get(key);
            Optional<KvItem> item = client.get(key(key));
            long most = begun.get(key);
            gets.incrementAndGet();
            String where = "key " + key + ", acknowledged before " + least + ", begun after " + most + ": ";
            if (item.isEmpty()) {
                misses.incrementAndGet();
                boolean wasAbsent = least == 0 || most / DELETES * DELETES >= least;
                require(wasAbsent, where + "a miss, but none of these versions is a delete");
            } else {
                byte[] value = item.get().value();
                long version = ByteBuffer.wrap(value).getLong();
                require(version >= least && version <= most, where + "version " + version);
                require(java.util.Arrays.equals(value(key, version), value), where + "the bytes are not those of version "
                        + version);
            }
        }
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }
}
