import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Loads one server with GETs, SETs and DELETEs: sets every key, so that memory is as full as it gets, then goes flat out
 * for a while, then at half that rate for some minutes. Run by ./run
 * from its source, with softrdma.jar on the class path. Arguments: memcached port, process of the server, minutes.
 *
 * <p>A value begins with the number of its key, and all its bytes follow from that and from its length; each GET is compared.
 */
public final class HalfLoad {
    private static final int CLIENTS = 4;
    private static final int KEYS = 200_000;
    private static final int MOST_VALUE_BYTES = 4000;
    private static final int PERCENT_GETS = 90;
    private static final int PERCENT_GETS_AND_SETS = 99;
    private static final int SECONDS_FLAT_OUT = 20;
    private static final int OPERATIONS_PER_PACE = 32;
    /** Pages of a heap and of arenas that are touched for the first time come later than the first minutes. */
    private static final double MOST_GROWTH = 1.02;
    /** Items are not always of the same number. */
    private static final long MOST_LIVE_GROWTH_KIB = 1024;

    private final InetSocketAddress address;
    private final long pid;
    private final LongAdder gets = new LongAdder();
    private final LongAdder hits = new LongAdder();
    private final LongAdder sets = new LongAdder();
    private final LongAdder deletes = new LongAdder();
    private final LongAdder done = new LongAdder();
    private final AtomicReference<Throwable> fault = new AtomicReference<>();
    private volatile boolean stop;

    private HalfLoad(int port, long pid) {
        this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        this.pid = pid;
    }

    public static void main(String[] arguments) throws Exception {
        HalfLoad load = new HalfLoad(Integer.parseInt(arguments[0]), Long.parseLong(arguments[1]));
        System.exit(load.run(Integer.parseInt(arguments[2])) ? 0 : 1);
    }

    /**
     * What the kernel says of the server.
     *
     * @param rssKib resident memory, KiB
     * @param threads number of threads
     * @param descriptors number of open files
     * @param liveKib what is left of the heap after a collection, KiB
     */
    private record Sample(long rssKib, long threads, long descriptors, long liveKib) {
        static Sample of(long pid) throws IOException {
            long liveKib = live(pid); // first: jcmd's first call starts a thread in the server, with a socket
            Path process = Path.of("/proc", Long.toString(pid));
            List<String> lines = Files.readAllLines(process.resolve("status"));
            try (Stream<Path> files = Files.list(process.resolve("fd"))) {
                return new Sample(value(lines, "VmRSS:"), value(lines, "Threads:"), files.count(), liveKib);
            }
        }

        static Sample least(List<Sample> samples) {
            return samples.stream()
                    .reduce((a, b) -> new Sample(
                            Math.min(a.rssKib, b.rssKib),
                            Math.min(a.threads, b.threads),
                            Math.min(a.descriptors, b.descriptors),
                            Math.min(a.liveKib, b.liveKib)))
                    .orElseThrow();
        }

        private static long live(long pid) throws IOException {
            Process histogram = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                            Long.toString(pid),
                            "GC.class_histogram")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (Stream<String> lines = histogram.inputReader().lines()) {
                String total = lines.filter(line -> line.startsWith("Total "))
                        .findFirst()
                        .orElseThrow(() -> new IOException("jcmd " + pid + " GC.class_histogram: no total"));
                return Long.parseLong(total.strip().split(" +")[2]) >> 10;
            }
        }

        private static long value(List<String> lines, String name) {
            return lines.stream()
                    .filter(line -> line.startsWith(name))
                    .map(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private boolean run(int minutes) throws Exception {
        fill();
        double flatOut;
        try (Clients clients = new Clients(0)) {
            TimeUnit.SECONDS.sleep(SECONDS_FLAT_OUT / 2); // warms up
            long before = done.sum();
            TimeUnit.SECONDS.sleep(SECONDS_FLAT_OUT / 2);
            flatOut = (done.sum() - before) / (SECONDS_FLAT_OUT / 2.0);
        }
        System.out.printf("flat out: %.0f operations/s by %d clients; half of that for %d minutes%n", flatOut, CLIENTS, minutes);
        System.out.println("minute  operations/s   RSS MiB  live MiB  threads  descriptors   hits %");
        List<Sample> samples = new ArrayList<>();
        try (Clients clients = new Clients(flatOut / 2)) {
            for (int minute = 1; minute <= minutes && fault.get() == null; minute++) {
                long before = done.sum();
                long hitsBefore = hits.sum();
                long getsBefore = gets.sum();
                TimeUnit.MINUTES.sleep(1);
                Sample sample = Sample.of(pid);
                samples.add(sample);
                System.out.printf(
                        "%6d %13.0f %9.1f %9.1f %8d %12d %8.1f%n",
                        minute,
                        (done.sum() - before) / 60.0,
                        sample.rssKib / 1024.0,
                        sample.liveKib / 1024.0,
                        sample.threads,
                        sample.descriptors,
                        100.0 * (hits.sum() - hitsBefore) / Math.max(1, gets.sum() - getsBefore));
            }
        }
        return judge(samples) & countsAgree() & noFault();
    }

    private void fill() {
        SplittableRandom random = new SplittableRandom(KEYS);
        try (KvClient client = KvClient.connect(new KvClientContext(address).protocol(KvProtocol.PLAIN).conclude())) {
            for (int number = 0; number < KEYS; number++) {
                client.set(key(number), 0, 0, value(number, Integer.BYTES + random.nextInt(MOST_VALUE_BYTES)));
                sets.increment();
            }
        }
    }

    private static byte[] key(int number) {
        return ("key" + number).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * The last sixth of the time beside the second: the least of each, because jcmd's socket may still be open when a
     * sample is taken, as one more descriptor.
     */
    private static boolean judge(List<Sample> samples) {
        int sixth = Math.max(1, samples.size() / 6);
        Sample first = Sample.least(samples.subList(Math.min(sixth, samples.size() - 1), Math.min(2 * sixth, samples.size())));
        Sample last = Sample.least(samples.subList(samples.size() - sixth, samples.size()));
        boolean same = last.rssKib <= first.rssKib * MOST_GROWTH
                && last.liveKib <= first.liveKib * MOST_GROWTH + MOST_LIVE_GROWTH_KIB
                && last.threads >= first.threads
                && last.descriptors <= first.descriptors;
        System.out.println((same ? "nothing grew: " : "FAILED, not what it was: ") + first + ", then " + last);
        return same;
    }

    /** What the server has counted, READs of clients included, and what clients did. */
    private boolean countsAgree() {
        Map<String, String> stats;
        try (KvClient client = KvClient.connect(new KvClientContext(address).protocol(KvProtocol.PLAIN).conclude())) {
            stats = client.stats("");
        }
        boolean agree = agrees(stats, "gets", gets.sum(), "get_hits", "get_misses")
                & agrees(stats, "hits", hits.sum(), "get_hits")
                & agrees(stats, "sets", sets.sum(), "cmd_set")
                & agrees(stats, "deletes", deletes.sum(), "delete_hits", "delete_misses");
        System.out.println("evictions=" + stats.get("evictions") + " curr_items=" + stats.get("curr_items"));
        return agree;
    }

    private static boolean agrees(Map<String, String> stats, String what, long expected, String... names) {
        long counted = Stream.of(names).mapToLong(name -> Long.parseLong(stats.get(name))).sum();
        System.out.printf(
                "%s: clients %d, server %d%s%n", what, expected, counted, counted == expected ? "" : " FAILED: they differ");
        return counted == expected;
    }

    private boolean noFault() {
        Throwable what = fault.get();
        if (what != null) {
            System.out.println("FAILED: " + what);
            what.printStackTrace(System.out);
        }
        return what == null;
    }

    /** Threads with a client each, of which every other READs. */
    private final class Clients implements AutoCloseable {
        private final List<Thread> threads = new ArrayList<>();

        Clients(double perSecond) {
            stop = false;
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                threads.add(Thread.ofPlatform().name("client " + i).start(() -> {
                    try {
                        drive(number, perSecond / CLIENTS);
                    } catch (Throwable e) {
                        fault.compareAndSet(null, e);
                    }
                }));
            }
        }

        @Override
        public void close() throws InterruptedException {
            stop = true;
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    private void drive(int number, double perSecond) {
        if (number % 2 == 0) {
            try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                    KvClient client = KvClient.connect(
                            device, new KvClientContext(address).protocol(KvProtocol.RDMA).conclude())) {
                drive(client, number, perSecond);
            }
        } else {
            try (KvClient client = KvClient.connect(new KvClientContext(address).protocol(KvProtocol.PLAIN).conclude())) {
                drive(client, number, perSecond);
            }
        }
    }

    private void drive(KvClient client, int seed, double perSecond) {
        SplittableRandom random = new SplittableRandom(seed);
        long startNs = System.nanoTime();
        long operations = 0;
        while (!stop) {
            for (int i = 0; i < OPERATIONS_PER_PACE; i++) {
                operate(client, random);
            }
            operations += OPERATIONS_PER_PACE;
            if (perSecond > 0) {
                long earlyNs = (long) (operations / perSecond * 1e9) - (System.nanoTime() - startNs);
                if (earlyNs > 0) {
                    LockSupport.parkNanos(earlyNs);
                }
            }
        }
    }

    private void operate(KvClient client, SplittableRandom random) {
        int number = (int) (KEYS * Math.pow(random.nextDouble(), 3)); // some far more often than others
        byte[] key = key(number);
        int draw = random.nextInt(100);
        if (draw < PERCENT_GETS) {
            Optional<KvItem> item = client.get(key);
            gets.increment();
            if (item.isPresent()) {
                hits.increment();
                check(number, item.get().value());
            }
        } else if (draw < PERCENT_GETS_AND_SETS) {
            int exptime = random.nextInt(4) == 0 ? 1 + random.nextInt(60) : 0;
            client.set(key, 0, exptime, value(number, Integer.BYTES + random.nextInt(MOST_VALUE_BYTES)));
            sets.increment();
        } else {
            client.delete(key);
            deletes.increment();
        }
        done.increment();
    }

    private static byte[] value(int number, int length) {
        ByteBuffer value = ByteBuffer.allocate(length).putInt(number);
        byte fill = (byte) (number * 31 + length);
        while (value.hasRemaining()) {
            value.put(fill);
        }
        return value.array();
    }

    private static void check(int number, byte[] value) {
        byte fill = (byte) (number * 31 + value.length);
        boolean right = ByteBuffer.wrap(value).getInt() == number;
        for (int i = Integer.BYTES; i < value.length; i++) {
            right &= value[i] == fill;
        }
        if (!right) {
            throw new IllegalStateException("a wrong value of key " + number + ", " + value.length + " bytes");
        }
    }
}
