import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.KvRefusedException;
import org.softrdma.kv.client.KvTimeoutException;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.VerbsDevice;

/**
 * GETs the keys of memcached's tests by READ, from every server that they start, for as long as it lives. Run by ./run from
 * its source, with softrdma.jar on the class path.
 *
 * <p>Argument: a directory. A file {@code PID.server} there says {@code PORT NAME KEY...}: a server of that process number
 * is about to listen on that port; a key {@code name{0..9}} stands for ten. A file {@code stop} there ends this. One thread
 * per server. Prints a line per server, and at last {@code total: reads=N errors=N}, where reads are those that the servers'
 * devices have counted. An error is whatever is not a closed connection: the client checks that each value is whole.
 */
public final class ReadHammer {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long COUNT_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Of two cores, the tests and their servers need some. */
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private static final String READS = "device_responderReads";
    private static final Pattern RANGE = Pattern.compile("(.*)\\{([0-9]+)\\.\\.([0-9]+)\\}(.*)");

    private final VerbsDevice device;
    private final ProcessHandle server;
    private final InetSocketAddress address;
    private final String name;
    private final List<byte[]> keys;
    private long hits;
    private long misses;
    private long reads;
    private String faults = "";
    private String counters = "";

    private ReadHammer(VerbsDevice device, ProcessHandle server, String[] words) {
        this.device = device;
        this.server = server;
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
                        long pid = Long.parseLong(file.getFileName().toString().replace(".server", ""));
                        String[] words = Files.readString(file).trim().split("\\s+");
                        ReadHammer hammer = ProcessHandle.of(pid)
                                .map(process -> new ReadHammer(device, process, words))
                                .orElse(null);
                        if (hammer != null) {
                            hammers.add(hammer);
                            threads.put(file, Thread.ofPlatform().name(words[1]).start(hammer::run));
                        }
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
        while (server.isAlive() && faults.isEmpty()) {
            try (KvClient client = KvClient.connect(
                    device,
                    new KvClientContext(address)
                            .protocol(KvProtocol.RDMA)
                            .window(2)
                            .conclude())) {
                hammer(client);
            } catch (KvTimeoutException | KvRefusedException e) {
                faults += e.getMessage();
            } catch (KvException e) {
                String message = String.valueOf(e.getMessage());
                if (!message.contains(" is gone: ") && !message.startsWith("cannot connect to ")) {
                    faults += message;
                }
                LockSupport.parkNanos(LOOK_NS); // it does not listen yet, or no longer
            } catch (RuntimeException e) {
                faults += e;
            }
        }
        System.out.println(name + ": reads=" + reads + " hits=" + hits + " misses=" + misses + " client: " + counters
                + (faults.isEmpty() ? "" : " ERROR: " + faults));
    }

    private void hammer(KvClient client) {
        long counted = System.nanoTime();
        try {
            while (true) {
                for (byte[] key : keys) {
                    if (client.get(key).isPresent()) {
                        hits++;
                    } else {
                        misses++;
                    }
                    long now = System.nanoTime();
                    if (now - counted > COUNT_NS) {
                        counted = now;
                        reads = Long.parseLong(client.stats("rdma").get(READS));
                    }
                    LockSupport.parkNanos(PAUSE_NS);
                }
            }
        } finally {
            counters = client.counters().toString();
        }
    }
}
