import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/**
 * READs and WRITEs over a network that loses packets. Run by ./run from its source, with softrdma.jar on the class path.
 *
 * <pre>
 *   RoceLoad serve ADDRESS PORT [OPTION=VALUE...]
 *   RoceLoad load ADDRESS PORT SENDERS [OPTION=VALUE...]
 * </pre>
 *
 * Both read commands from standard input, one a line, and answer with one line each: {@code read|write SIZE WINDOW MILLIS} (load) and
 * {@code counters} (serve) with NAME=NUMBER words. They end with the input. Each sender is a device of its own, all of one thread.
 *
 * <p>All bytes of each READ are compared. Of WRITEs all bytes are compared at the end of a run, which READs them back. A request that is not done
 * after 30 s is stuck: the program ends with 1 and says so.
 */
public final class RoceLoad {
    private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int MOST_WINDOW = 16;
    private static final int MOST_SIZE = 1 << 16;
    /** Of each sender, at the server. */
    private static final long INBOX = (long) MOST_WINDOW * MOST_SIZE;

    /** What senders READ, before the inboxes. */
    private static final long SOURCE = 4L << 20;

    private static final int MOST_SENDERS = 32;
    private static final byte SPOILT = 0x55;
    private static final MemorySegment PATTERN = MemorySegment.ofArray(pattern());

    private RoceLoad() {}

    public static void main(String[] arguments) throws Exception {
        InetSocketAddress at = new InetSocketAddress(InetAddress.getByName(arguments[1]), Integer.parseInt(arguments[2]));
        boolean serves = arguments[0].equals("serve");
        Map<String, String> options = new HashMap<>(Map.of("wire", "roce"));
        for (int i = serves ? 3 : 4; i < arguments.length; i++) {
            String[] option = arguments[i].split("=", 2);
            options.put(option[0], option[1]);
        }
        try {
            if (serves) {
                serve(at, options);
            } else {
                load(at, Integer.parseInt(arguments[3]), options);
            }
        } catch (Throwable wrong) {
            wrong.printStackTrace();
            System.out.println("WRONG: " + wrong);
            System.exit(1);
        }
        System.exit(0);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static byte[] pattern() {
        byte[] bytes = new byte[(int) SOURCE];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    private static BufferedReader commands() {
        return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    }

    // ---- server

    private static void serve(InetSocketAddress at, Map<String, String> options) throws IOException {
        VerbsDevice device = VerbsProviders.named("sim").open(options);
        ProtectionDomain domain = device.allocateProtectionDomain();
        HostMemory memory = device.allocateMemory(SOURCE + MOST_SENDERS * INBOX);
        MemoryRegion region = domain.register(
                memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
        MemorySegment.copy(PATTERN, 0, memory.segment(), 0, SOURCE);
        CompletionQueue queue = device.createCompletionQueue(64);
        Listener listener = device.listen(at, MOST_SENDERS);
        Thread.ofPlatform().daemon().start(() -> {
            List<QueuePair> accepted = new ArrayList<>();
            while (true) {
                listener.next(TimeUnit.HOURS.toNanos(1)).ifPresent(request -> accept(request, domain, queue, region, accepted));
            }
        });
        say("ready");
        try (BufferedReader lines = commands()) {
            while (lines.readLine() != null) {
                say(counters(device.counters(), Map.of()));
            }
        }
    }

    private static void accept(
            ConnectionRequest request,
            ProtectionDomain domain,
            CompletionQueue queue,
            MemoryRegion region,
            List<QueuePair> accepted) {
        byte[] number = request.privateData();
        QueuePair pair = request.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(1, 1)));
        long inbox = region.address() + SOURCE + number[0] * INBOX;
        byte[] where = ByteBuffer.allocate(2 * Long.BYTES + Integer.BYTES)
                .putLong(region.address())
                .putLong(inbox)
                .putInt(region.rkey())
                .array();
        request.accept(new ConnectionParameters(MOST_WINDOW, MOST_WINDOW, where));
        accepted.add(pair);
    }

    private static String counters(Map<String, Long> now, Map<String, Long> before) {
        StringBuilder line = new StringBuilder();
        for (String name : List.of(
                "packetsSent",
                "packetsReceived",
                "retransmitted",
                "timeouts",
                "slowdowns",
                "duplicates",
                "outOfSequence",
                "skippingAnswers",
                "lateAnswers",
                "socketDropped",
                "icrcErrors",
                "foreignSource",
                "unknownQueuePair")) {
            long value = now.getOrDefault("roce." + name, 0L) - before.getOrDefault("roce." + name, 0L);
            line.append(line.isEmpty() ? "" : " ").append(name).append('=').append(value);
        }
        return line.toString();
    }

    // ---- load

    /** A device with one connection. */
    private static final class Sender {
        final VerbsDevice device;
        final CompletionQueue queue;
        final QueuePair pair;
        final MemoryRegion region;
        final long source;
        final long inbox;
        final int rkey;
        final long[] from = new long[MOST_WINDOW];
        final int[] free = new int[MOST_WINDOW];
        final SplittableRandom random;
        private final WorkCompletion[] polled = WorkCompletion.array(MOST_WINDOW);
        int freeCount;
        long postedNs;
        long requests;

        Sender(int number, InetSocketAddress server, Map<String, String> options) {
            random = new SplittableRandom(number);
            device = VerbsProviders.named("sim").open(options);
            ProtectionDomain domain = device.allocateProtectionDomain();
            queue = device.createCompletionQueue(2 * MOST_WINDOW);
            HostMemory memory = device.allocateMemory(INBOX);
            region = domain.register(memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK));
            try (Connector connector = device.resolve(server, STUCK_NS)) {
                pair = connector.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(MOST_WINDOW, 1)));
                ConnectionParameters parameters =
                        ConnectionParameters.ofReads(MOST_WINDOW).withPrivateData(new byte[] {(byte) number});
                ByteBuffer where = ByteBuffer.wrap(connector.connect(parameters, STUCK_NS));
                source = where.getLong();
                inbox = where.getLong();
                rkey = where.getInt();
            }
        }

        void begin(int window) {
            freeCount = 0;
            requests = 0;
            for (int slot = window - 1; slot >= 0; slot--) {
                free[freeCount++] = slot;
            }
        }

        private void post(boolean write, int size) {
            while (freeCount > 0) {
                int slot = free[--freeCount];
                long local = (long) slot * size;
                postedNs = System.nanoTime();
                PostStatus status;
                if (write) {
                    status = pair.postWrite(slot, region, local, size, inbox + local, rkey, SendFlags.SIGNALLED);
                } else {
                    from[slot] = random.nextLong(SOURCE - size);
                    status = pair.postRead(slot, region, local, size, source + from[slot], rkey, SendFlags.SIGNALLED);
                }
                require(status == PostStatus.ACCEPTED, "a post gave " + status);
            }
        }

        /** Takes what is done; checks what was READ. */
        void turn(boolean write, int size) {
            int count = queue.poll(polled);
            for (int i = 0; i < count; i++) {
                require(polled[i].isSuccess(), polled[i].toString());
                int slot = (int) polled[i].wrId();
                if (!write) {
                    check(slot, size);
                }
                free[freeCount++] = slot;
                requests++;
            }
            if (count > 0) {
                postedNs = System.nanoTime();
            }
        }

        private void check(int slot, int size) {
            MemorySegment read = region.memory().asSlice((long) slot * size, size);
            long wrong = read.mismatch(PATTERN.asSlice(from[slot], size));
            require(wrong == -1, "byte " + wrong + " of " + size + " is wrong");
            read.fill(SPOILT);
        }

        /** What the server has is what was written. */
        void checkInbox(int bytes) {
            byte[] written = region.memory().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
            region.memory().asSlice(0, bytes).fill(SPOILT);
            begin(1);
            for (int at = 0; at < bytes; at += MOST_SIZE) {
                int size = Math.min(MOST_SIZE, bytes - at);
                long startNs = System.nanoTime();
                require(
                        pair.postRead(0, region, at, size, inbox + at, rkey, SendFlags.SIGNALLED) == PostStatus.ACCEPTED,
                        "a READ was not taken");
                for (int count = 0; count == 0; ) {
                    count = queue.poll(polled);
                    require(System.nanoTime() - startNs < STUCK_NS, "a READ is stuck");
                }
                require(polled[0].isSuccess(), polled[0].toString());
            }
            require(
                    MemorySegment.ofArray(written).mismatch(region.memory().asSlice(0, bytes)) == -1,
                    "what was written is wrong");
        }
    }

    private static void require(boolean right, String what) {
        if (!right) {
            throw new AssertionError(what);
        }
    }

    private static void load(InetSocketAddress server, int count, Map<String, String> options) throws IOException {
        options.put("progress", "manual");
        List<Sender> senders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            senders.add(new Sender(i, server, options));
        }
        say("ready");
        try (BufferedReader lines = commands()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ", -1);
                boolean write = words[0].equals("write");
                say(run(
                        senders,
                        write,
                        Integer.parseInt(words[1]),
                        Integer.parseInt(words[2]),
                        TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[3]))));
            }
        }
    }

    private static String run(List<Sender> senders, boolean write, int size, int window, long runNs) {
        Map<String, Long> before = counters(senders);
        for (Sender sender : senders) {
            if (write) {
                for (long i = 0; i < (long) window * size; i++) {
                    sender.region.memory().set(ValueLayout.JAVA_BYTE, i, (byte) sender.random.nextInt());
                }
            }
            sender.begin(window);
        }
        long startNs = System.nanoTime();
        for (boolean over = false; !over; ) {
            long nowNs = System.nanoTime();
            boolean posts = nowNs - startNs < runNs;
            over = !posts;
            for (Sender sender : senders) {
                if (posts) {
                    sender.post(write, size);
                }
                sender.turn(write, size);
                if (sender.freeCount < window) {
                    over = false;
                    require(nowNs - sender.postedNs < STUCK_NS, "a request is stuck");
                }
            }
        }
        long doneNs = System.nanoTime();
        String counted = counters(counters(senders), before);
        long requests = 0;
        long least = Long.MAX_VALUE;
        long most = 0;
        for (Sender sender : senders) {
            requests += sender.requests;
            least = Math.min(least, sender.requests);
            most = Math.max(most, sender.requests);
        }
        if (write) {
            for (Sender sender : senders) {
                sender.checkInbox(window * size);
            }
        }
        double seconds = (doneNs - startNs) / 1e9;
        return String.format(
                "requests=%d megabytes=%.1f fewest=%d most=%d %s",
                requests, requests * (double) size / seconds / 1e6, least, most, counted);
    }

    private static Map<String, Long> counters(List<Sender> senders) {
        Map<String, Long> sum = new HashMap<>();
        for (Sender sender : senders) {
            sender.device.counters().forEach((name, value) -> sum.merge(name, value, Long::sum));
        }
        return sum;
    }
}
