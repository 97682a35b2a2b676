import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client of a store on RoCEv2: sets and gets items and compares each value, until there is a file; then the counters of packets
 * that were not for this side must be 0, those of the store too. Run by ./run from its source, with softrdma.jar on the class path.
 * Arguments: memcached port, UDP port, the file.
 */
public final class StoreLoad {
    private static final List<String> FOREIGN = List.of(
            "roce.malformed",
            "roce.wrongPartition",
            "roce.wrongTransport",
            "roce.unknownQueuePair",
            "roce.foreignSource",
            "roce.icrcErrors");
    private static final String OF_STORE = "device_";
    private static final int KEYS = 1_000;
    private static final int PER_LOOK = 50;
    private static final long PAUSE_NS = 2_000_000;

    private StoreLoad() {}

    public static void main(String[] arguments) {
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
        Map<String, String> options = Map.of("wire", "roce", "roce-port", arguments[1]);
        try (VerbsDevice device = new SoftRdmaProvider().open(options);
                KvClient client = KvClient.connect(
                        device, new KvClientContext(address).protocol(KvProtocol.RDMA).conclude())) {
            long gets = load(client, Path.of(arguments[2]));
            Map<String, Long> foreign = new TreeMap<>();
            Map<String, String> ofStore = client.stats("rdma");
            Map<String, Long> ofClient = device.counters();
            for (String name : FOREIGN) {
                foreign.put("store " + name, Long.parseLong(ofStore.get(OF_STORE + name)));
                foreign.put("client " + name, ofClient.get(name));
            }
            foreign.values().removeIf(count -> count == 0);
            System.out.println("UDP port " + arguments[1] + ": " + gets + " GETs, all right; "
                    + ofStore.get(OF_STORE + "roce.packetsReceived") + " packets; foreign: "
                    + (foreign.isEmpty() ? "none" : "FAILED, " + foreign));
            System.exit(foreign.isEmpty() ? 0 : 1);
        }
    }

    private static byte[] key(int number) {
        return ("key" + number).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] value(int number) {
        byte[] value = new byte[1 + number * 4];
        Arrays.fill(value, (byte) number);
        return value;
    }

    private static long load(KvClient client, Path end) {
        for (int i = 0; i < KEYS; i++) {
            client.set(key(i), 0, 0, value(i));
        }
        long gets = 0;
        while (!Files.exists(end)) {
            for (int i = 0; i < PER_LOOK; i++) {
                int number = (int) (gets++ * 31 % KEYS);
                byte[] came = client.get(key(number)).orElseThrow().value();
                if (!Arrays.equals(value(number), came)) {
                    throw new IllegalStateException("a wrong value of key " + number);
                }
            }
            LockSupport.parkNanos(PAUSE_NS); // others need the cores, too
        }
        return gets;
    }
}
