import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.KvRefusedException;
import org.softrdma.kv.client.KvTimeoutException;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.client.StartStatus;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * GETs the keys of memcached's tests by READ, from every server that they start, for as long as it lives: those whose place is
 * known without a stop, the others, which the server has to be asked for, in turn. Run by ./run from its source, with
 * softrdma.jar on the class path.
 *
 * <p>Argument: a directory. A file {@code PID.server} there says {@code PORT NAME KEY...}: a server of that process number
 * is about to listen on that port; a key {@code name{0..9}} stands for ten. A file {@code stop} there ends this. One thread
 * per server. Prints a line per server, and at last {@code total: reads=N errors=N}, where reads are those that the servers'
 * devices have counted. An error is whatever is not a closed connection, or one refused while the server ends: the client checks that each value is whole.
 */
public final class ReadHammer {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long COUNT_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long END_NS = TimeUnit.SECONDS.toNanos(10);

    /** What a server may need for its first connection, on a machine that runs several suites at once. */
    private static final long CONNECT_NS = TimeUnit.MINUTES.toNanos(1);

    /** READs outstanding, and the longest item that is READ: together the memory of a connection. */
    private static final int WINDOW = 32;

    private static final int MOST_BYTES = 320 * 1024;

    private static final String READS = "device_responderReads";
    private static final Pattern RANGE = Pattern.compile("(.*)\\{([0-9]+)\\.\\.([0-9]+)\\}(.*)");

    private final VerbsDevice device;
    private final Path server;
    private final InetSocketAddress address;
    private final String name;
    private final List<byte[]> keys;
    private final Map<ReadOutcome, Long> outcomes = new EnumMap<>(ReadOutcome.class);
    private long asked;
    private long reads;
    private String faults = "";
    private String counters = "";

    private ReadHammer(VerbsDevice device, String pid, String[] words) {
        this.device = device;
        this.server = Path.of("/proc", pid, "stat");
        this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        this.name = words[1];
        this.keys = Arrays.stream(words).skip(2).flatMap(ReadHammer::expand).toList();
    }

    private static Stream<byte[]> expand(String key) {
        List<String> all = new ArrayList<>();
        Matcher range = RANGE.matcher(key);
        if (range.matches()) {
            for (int i = Integer.parseInt(range.group(2)); i <= Integer.parseInt(range.group(3)); i++) {
                all.add(range.group(1) + i + range.group(4));
            }
        } else {
            all.add(key);
        }
        return all.stream().map(each -> each.getBytes(StandardCharsets.US_ASCII));
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path directory = Path.of(arguments[0]);
        Map<Path, Thread> threads = new HashMap<>();
        List<ReadHammer> hammers = new ArrayList<>();
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of())) {
            System.out.println("ready");
            boolean stopping = false;
            while (!stopping) {
                stopping = Files.exists(directory.resolve("stop"));
                for (Path file : servers(directory)) {
                    if (!threads.containsKey(file)) {
                        String pid = file.getFileName().toString().replace(".server", "");
                        String[] words = Files.readString(file).trim().split("\\s+");
                        ReadHammer hammer = new ReadHammer(device, pid, words);
                        hammers.add(hammer);
                        threads.put(file, Thread.ofPlatform().name(words[1]).start(hammer::run));
                    }
                }
                LockSupport.parkNanos(LOOK_NS);
            }
            for (Thread each : threads.values()) {
                each.join(TimeUnit.SECONDS.toMillis(30));
                if (each.isAlive()) {
                    System.out.println("total: reads=0 errors=1: the server of " + each.getName() + " does not end");
                    System.exit(1);
                }
            }
        }
        long reads = hammers.stream().mapToLong(each -> each.reads).sum();
        long errors = hammers.stream().filter(each -> !each.faults.isEmpty()).count();
        System.out.println("total: reads=" + reads + " errors=" + errors);
    }

    private static List<Path> servers(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(each -> each.toString().endsWith(".server")).toList();
        }
    }

    /** Until the server's process has ended. */
    private void run() {
        while (!hasEnded() && faults.isEmpty()) {
            if (!isListening()) {
                LockSupport.parkNanos(LOOK_NS);
                continue;
            }
            try (CompletionLoop loop = new CompletionLoop(device, 1, WINDOW);
                    KvClient client = new KvClient(
                            loop,
                            new KvClientContext(address)
                                    .protocol(KvProtocol.RDMA)
                                    .window(WINDOW)
                                    .maxItemLength(MOST_BYTES)
                                    .connectTimeoutNs(CONNECT_NS)
                                    .requestTimeoutNs(CONNECT_NS)
                                    .conclude())) {
                hammer(loop, client);
            } catch (KvTimeoutException | KvRefusedException e) {
                faults += e.getMessage();
            } catch (KvException e) {
                judge(String.valueOf(e.getMessage()));
            } catch (RuntimeException e) {
                faults += e;
            }
        }
        System.out.println(name + ": reads=" + reads + " asked=" + asked + " outcomes=" + outcomes + " client: " + counters
                + (faults.isEmpty() ? "" : " ERROR: " + faults));
    }

    /**
     * True if somebody listens on the port (proc(5)). To find that out by connecting would be wrong: the port is one that the
     * kernel gives to clients too, so that a socket may be connected to itself and keep the port from the server.
     */
    private boolean isListening() {
        String port = String.format(":%04X ", address.getPort());
        try {
            for (Path table : List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"))) {
                if (Files.exists(table)
                        && Files.readAllLines(table).stream()
                                .anyMatch(line -> line.contains(port + "00000000:0000 0A")
                                        || line.contains(port + "0".repeat(32) + ":0000 0A"))) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A server that listens not yet or no longer is no error; one that accepts no queue pair must be about to end. */
    private void judge(String message) {
        if (message.contains(" is gone: ") || message.startsWith("cannot connect to ")) {
            LockSupport.parkNanos(LOOK_NS);
        } else if (message.contains(" no queue pair could be connected ")) {
            long deadline = System.nanoTime() + END_NS;
            while (!hasEnded() && System.nanoTime() < deadline) {
                LockSupport.parkNanos(LOOK_NS);
            }
            faults += hasEnded() ? "" : message;
        } else {
            faults += message;
        }
    }

    /** A process that nobody has waited for yet has ended as well. */
    private boolean hasEnded() {
        try {
            String stat = Files.readString(server);
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'Z';
        } catch (IOException e) {
            return true;
        }
    }

    private void hammer(CompletionLoop loop, KvClient client) {
        long counted = System.nanoTime();
        int next = 0;
        int unknown = 0;
        try {
            while (true) {
                byte[] key = keys.get(next);
                next = (next + 1) % keys.size();
                StartStatus status = client.start(key, 0);
                unknown = status == StartStatus.UNKNOWN ? unknown + 1 : 0;
                if (status == StartStatus.WINDOW_FULL || unknown == keys.size()) {
                    unknown = 0;
                    loop.await(LOOK_NS);
                    client.deliver((tag, outcome, item) -> outcomes.merge(outcome, 1L, Long::sum));
                }
                long now = System.nanoTime();
                if (now - counted > COUNT_NS) {
                    counted = now;
                    asked++;
                    client.get(keys.get((int) (asked % keys.size()))); // for its place
                    reads = Long.parseLong(client.stats("rdma").get(READS));
                }
            }
        } finally {
            counters = client.counters().toString();
        }
    }
}
