package org.softrdma.sim;

import java.net.InetAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.sim.connection.IwarpFactory;
import org.softrdma.sim.connection.IwarpSettings;
import org.softrdma.sim.device.DeviceProfile;
import org.softrdma.sim.device.DeviceSettings;
import org.softrdma.sim.engine.EngineLimits;
import org.softrdma.sim.engine.EngineTimeouts;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.pinning.PinningSettings;
import org.softrdma.sim.roce.RoceFactory;
import org.softrdma.sim.roce.RoceSettings;
import org.softrdma.sim.roce.rc.RcSettings;
import org.softrdma.sim.roce.wire.RnrTimer;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.sim.samehost.SameHost;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.PinningPolicy;

/**
 * Configuration of a device: set, then {@link #conclude}, which reports all faults at once. The names and defaults of
 * options given as text stand in {@link #OPTIONS}. Not thread-safe before it is concluded.
 */
public final class SoftRdmaContext {
    /** Options by name: help with the default. */
    static final Map<String, String> OPTIONS = options();

    private static final int DEFAULT_COPY_BELOW = 4096;
    private static final int DEFAULT_RECEIVE_BUFFER = 256 * 1024;
    private static final int LEAST_RECEIVE_BUFFER = 128 * 1024;
    private static final int MOST_RECEIVE_BUFFER = 64 * 1024 * 1024;
    private static final int MOST_THREADS = 256;
    private static final int MOST_SOCKET_BUFFER = 1 << 30;
    private static final long MOST_TIMEOUT_MS = 3_600_000;
    private static final long DEFAULT_READY_REPEAT_MS = 50;
    private static final int DEFAULT_LINGERING = 1024;
    private static final int MOST_LINGERING = 1 << 20;
    /** As an InfiniBand connection of rdma_cm: seven retries, each after 4.096 us * 2^18 without an answer. */
    private static final long DEFAULT_HOST_TIMEOUT_MS = 8_000;

    private static final long DEFAULT_ROCE_TIMEOUT_MS = 250;
    private static final long ROCE_RECEIVER_WAIT_NS = TimeUnit.MICROSECONDS.toNanos(640);
    private static final int ROCE_WINDOW = 64;
    private static final int LEAST_ROCE_WINDOW = 4;
    private static final int MOST_ROCE_WINDOW = 1024;
    /** Cards and SoftRoCE send from ports above it. */
    private static final int MOST_ROCE_PORT = 49_151;

    private static final Set<String> OF_IWARP =
            Set.of("crc", "mpa-revision", "rfc7306", "segment", "copy-below", "receive-buffer", "ready-repeat");
    private static final String OF_ROCE = "roce-";

    private static final Pattern SIZE = Pattern.compile("([0-9]{1,9}|[0-9]{1,18}(?![kmgKMG]))([kmgKMG]?)");
    private static final Map<String, Long> UNITS = Map.of("k", 1L << 10, "m", 1L << 20, "g", 1L << 30);

    private final List<String> faults = new ArrayList<>();
    private ProgressMode progress = ProgressMode.ENGINE;
    private String transport = "auto";
    private int threads = 1;
    private boolean roce;
    private @Nullable InetAddress roceAddress;
    private int rocePort = RocePacket.UDP_PORT;
    /** 0 for the same. */
    private int rocePeerPort;

    private int roceTransferUnit;
    private long roceTimeoutMs = DEFAULT_ROCE_TIMEOUT_MS;
    private int roceRetries = RcSettings.FOR_EVER;
    private int roceRnrRetries = RcSettings.FOR_EVER;
    /** 0 if the network decides. */
    private int roceWindow = ROCE_WINDOW;

    private final Set<String> given = new HashSet<>();
    private boolean crc;
    private int mpaRevision = 2;
    private boolean rfc7306 = true;
    private DeviceProfile profile = DeviceProfile.NONE;
    private int maxRegions = StagTable.MAX_ROWS;
    private int maxPayload = IwarpSettings.LARGEST_PAYLOAD;
    private int copyBelow = DEFAULT_COPY_BELOW;
    private int receiveBuffer = DEFAULT_RECEIVE_BUFFER;
    private int socketBuffer;
    private PinningPolicy pinning = PinningSettings.DEFAULT.policy();
    private long pinBudget = PinningSettings.DEFAULT.budgetBytes();
    private int pinGranule = PinningSettings.DEFAULT.granuleBytes();
    private long handshakeTimeoutMs = 10_000;
    private long readyRepeatMs = DEFAULT_READY_REPEAT_MS;
    private long lingerTimeoutMs = 2_000;
    private int lingering = DEFAULT_LINGERING;
    private long hostTimeoutMs = DEFAULT_HOST_TIMEOUT_MS;
    private SameHost.Mode sameHost = SameHost.Mode.AUTO;
    private @Nullable Path capture;
    private boolean concluded;

    /** The defaults. */
    public SoftRdmaContext() {}

    private static Map<String, String> options() {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("progress", "engine (threads of its own) or manual (the opening thread polls); default engine");
        options.put(
                "transport",
                "epoll, uring (io_uring), nio or auto; default auto: uring for engine threads, epoll in manual"
                        + " progress and where there is no uring, nio where there is neither");
        options.put(
                "threads",
                "engine threads; with wire=roce the first serves all peers that connect and all connections to other"
                        + " hosts; default 1");
        options.put("wire", "iwarp (over TCP) or roce (RoCEv2 over UDP): what carries requests; default iwarp");
        options.put(
                "roce-address",
                "wire=roce: this host's IP address for queue pairs without a connection manager, or auto, the one that"
                        + " leads to other hosts; default auto");
        options.put(
                "roce-port",
                "wire=roce: UDP port where peers find this device, 1 to 49151; no other device on this address has it,"
                        + " unless it only connects; default "
                        + RocePacket.UDP_PORT);
        options.put(
                "roce-peer-port",
                "wire=roce: UDP port of those that it connects to, 1 to 49151, or 0 for that of roce-port; default 0");
        options.put(
                "roce-mtu",
                "wire=roce: most bytes of payload in a packet: 1024, 2048, 4096 or auto, what the network has room"
                        + " for; default auto");
        options.put(
                "roce-timeout",
                "wire=roce: milliseconds without progress after which packets are sent again; default "
                        + DEFAULT_ROCE_TIMEOUT_MS);
        options.put(
                "roce-retries",
                "wire=roce: how often in a row they are sent again before the connection ends, 0 to 7; default 7");
        options.put(
                "roce-rnr-retries",
                "wire=roce: how often in a row a peer tries again when this side has no RECV, 0 to 6, or 7 for ever;"
                        + " default 7");
        options.put(
                "roce-window",
                "wire=roce: packets of a connection that may be on their way, 4 to 1024, however many are lost; or 0:"
                        + " up to 64, fewer when some are lost; default "
                        + ROCE_WINDOW);
        options.put("crc", "on or off: request CRC32C on every connection; default off");
        options.put("mpa-revision", "1 or 2: MPA revision of connection requests; default 2");
        options.put("rfc7306", "on or off: send and answer atomics and WRITEs with immediate (RFC 7306); default on");
        options.put(
                "profile",
                "siw, rxe or disni: only the features that this device shares with that one, and the smaller limits,"
                        + " to test a program for it; or none; default none");
        options.put("regions", "maximum number of memory regions; default " + StagTable.MAX_ROWS);
        options.put(
                "segment",
                "maximum payload of a DDP segment in bytes; for a hardware RNIC use the TCP segment size less 24;"
                        + " default "
                        + IwarpSettings.LARGEST_PAYLOAD);
        options.put(
                "copy-below",
                "payloads smaller than this many bytes are copied, others are gathered; default " + DEFAULT_COPY_BELOW);
        options.put("receive-buffer", "size of an engine's receive buffer in bytes; default " + DEFAULT_RECEIVE_BUFFER);
        options.put("socket-buffer", "SO_SNDBUF and SO_RCVBUF in bytes; 0 leaves them to the kernel; default 0");
        options.put(
                "pinning",
                "when registered memory is pinned (mlock): lazy (on first use), eager (at registration), off or auto;"
                        + " default auto: lazy if the locked-memory limit allows it, else off");
        options.put(
                "pin-budget",
                "maximum bytes pinned lazily at once, such as 64m; 0 for what the locked-memory limit allows, but at"
                        + " most half of the machine's memory; default 0");
        options.put(
                "pin-granule",
                "bytes pinned at a time, a power of two up to 64 pages; default " + PinningSettings.DEFAULT_GRANULE);
        options.put(
                "same-host",
                "auto or off: between processes of one user on this host, READ memory that is allocated as shareable"
                        + " without the other process (docs/design/same-host.md); default auto");
        options.put("handshake-timeout", "milliseconds a peer may take for the handshake; default 10000");
        options.put(
                "ready-repeat",
                "milliseconds after which an initiator repeats its ready-to-receive to a peer that has sent nothing,"
                        + " which Linux's siw may need (docs/reference/wire.md); 0 for never; default "
                        + DEFAULT_READY_REPEAT_MS);
        options.put("linger-timeout", "milliseconds an ended connection waits for its peer to close; default 2000");
        options.put(
                "lingering",
                "maximum number of ended connections that wait for their peer; beyond it the longest-waiting one is"
                        + " reset; default "
                        + DEFAULT_LINGERING);
        options.put(
                "host-timeout",
                "milliseconds without any answer from a peer's host, kernel included, until the connection ends; 0 for"
                        + " never; default "
                        + DEFAULT_HOST_TIMEOUT_MS);
        options.put(
                "pcap",
                "file to which all traffic of the connections is appended, for Wireshark (pcapng); default none");
        return options;
    }

    /**
     * Sets options given as text; faults are reported by {@link #conclude}.
     *
     * @param values by name
     * @throws IllegalStateException if the context is concluded
     */
    public SoftRdmaContext set(Map<String, String> values) {
        if (concluded) {
            throw new IllegalStateException("the context is concluded");
        }
        values.forEach(this::set);
        return this;
    }

    private void set(String name, String value) {
        given.add(name);
        switch (name) {
            case "wire" -> roce = choose(name, value, Map.of("iwarp", false, "roce", true), roce);
            case "roce-address" -> roceAddress = address(name, value);
            case "roce-port" -> rocePort = (int) number(name, value, 1, MOST_ROCE_PORT);
            case "roce-peer-port" -> rocePeerPort = (int) number(name, value, 0, MOST_ROCE_PORT);
            case "roce-mtu" ->
                roceTransferUnit = choose(
                        name, value, Map.of("auto", 0, "1024", 1024, "2048", 2048, "4096", 4096), roceTransferUnit);
            case "roce-timeout" -> roceTimeoutMs = number(name, value, 1, MOST_TIMEOUT_MS);
            case "roce-retries" -> roceRetries = (int) number(name, value, 0, RcSettings.FOR_EVER);
            case "roce-rnr-retries" -> roceRnrRetries = (int) number(name, value, 0, RcSettings.FOR_EVER);
            case "roce-window" -> roceWindow = window(name, value);
            case "progress" ->
                progress = choose(
                        name, value, Map.of("engine", ProgressMode.ENGINE, "manual", ProgressMode.MANUAL), progress);
            case "transport" -> transport = choose(name, value, Transports.CHOICES, transport);
            case "threads" -> threads = (int) number(name, value, 1, MOST_THREADS);
            case "crc" -> crc = choose(name, value, Map.of("on", true, "off", false), crc);
            case "mpa-revision" -> mpaRevision = (int) number(name, value, 1, 2);
            case "rfc7306" -> rfc7306 = choose(name, value, Map.of("on", true, "off", false), rfc7306);
            case "profile" ->
                profile = choose(
                        name,
                        value,
                        Arrays.stream(DeviceProfile.values())
                                .collect(Collectors.toMap(DeviceProfile::toString, each -> each)),
                        profile);
            case "regions" -> maxRegions = (int) number(name, value, 1, StagTable.MAX_ROWS);
            case "segment" -> maxPayload = (int) number(name, value, Long.BYTES, IwarpSettings.LARGEST_PAYLOAD);
            case "copy-below" -> copyBelow = (int) number(name, value, 1, IwarpSettings.LARGEST_PAYLOAD + 1L);
            case "receive-buffer" ->
                receiveBuffer = (int) number(name, value, LEAST_RECEIVE_BUFFER, MOST_RECEIVE_BUFFER);
            case "socket-buffer" -> socketBuffer = (int) number(name, value, 0, MOST_SOCKET_BUFFER);
            case "pinning" ->
                pinning = choose(
                        name,
                        value,
                        Map.of(
                                "auto", PinningPolicy.AUTO,
                                "lazy", PinningPolicy.LAZY,
                                "eager", PinningPolicy.EAGER,
                                "off", PinningPolicy.OFF),
                        pinning);
            case "pin-budget" -> pinBudget = size(name, value);
            case "pin-granule" -> pinGranule = powerOfTwo(name, value);
            case "same-host" ->
                sameHost = choose(name, value, Map.of("auto", SameHost.Mode.AUTO, "off", SameHost.Mode.OFF), sameHost);
            case "handshake-timeout" -> handshakeTimeoutMs = number(name, value, 1, MOST_TIMEOUT_MS);
            case "pcap" -> capture = path(name, value);
            case "ready-repeat" -> readyRepeatMs = number(name, value, 0, MOST_TIMEOUT_MS);
            case "lingering" -> lingering = (int) number(name, value, 1, MOST_LINGERING);
            case "host-timeout" -> hostTimeoutMs = number(name, value, 0, MOST_TIMEOUT_MS);
            case "linger-timeout" -> lingerTimeoutMs = number(name, value, 1, MOST_TIMEOUT_MS);
            default -> faults.add(name + ": unknown option, expected one of " + String.join(", ", OPTIONS.keySet()));
        }
    }

    private <T> T choose(String name, String value, Map<String, T> choices, T otherwise) {
        T chosen = choices.get(value);
        if (chosen == null) {
            faults.add(name + "=" + value + ": expected "
                    + String.join(" or ", choices.keySet().stream().sorted().toList()));
            return otherwise;
        }
        return chosen;
    }

    private @Nullable InetAddress address(String name, String value) {
        if (value.equals("auto")) {
            return null;
        }
        try {
            InetAddress address = InetAddress.ofLiteral(value);
            if (!address.isAnyLocalAddress() && !address.isMulticastAddress()) {
                return address;
            }
        } catch (IllegalArgumentException e) {
            // Reported below, like the wildcard.
        }
        faults.add(name + "=" + value + ": expected auto or an IP address of one interface");
        return null;
    }

    private @Nullable Path path(String name, String value) {
        try {
            if (!value.isEmpty()) {
                return Path.of(value);
            }
        } catch (InvalidPathException e) {
            // Reported below, like an empty one.
        }
        faults.add(name + "=" + value + ": expected the path of a file");
        return null;
    }

    /** Bytes, or a number with k, m or g. */
    private long size(String name, String value) {
        Matcher size = SIZE.matcher(value);
        if (size.matches()) {
            long unit = UNITS.getOrDefault(size.group(2).toLowerCase(Locale.ROOT), 1L);
            return Long.parseLong(size.group(1)) * unit;
        }
        faults.add(name + "=" + value + ": expected bytes, or a number with k, m or g");
        return 0;
    }

    private int powerOfTwo(String name, String value) {
        int number = (int) number(name, value, PinningSettings.LEAST_GRANULE, PinningSettings.DEFAULT_GRANULE);
        if (Integer.bitCount(number) != 1) {
            faults.add(name + "=" + value + ": expected a power of two");
        }
        return number;
    }

    private int window(String name, String value) {
        int packets = (int) number(name, value, 0, MOST_ROCE_WINDOW);
        if (packets > 0 && packets < LEAST_ROCE_WINDOW) {
            faults.add(name + "=" + value + ": expected 0, or a number from " + LEAST_ROCE_WINDOW);
        }
        return packets;
    }

    private long number(String name, String value, long least, long most) {
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below, like a number out of range.
        }
        faults.add(name + "=" + value + ": expected a number from " + least + " to " + most);
        return least;
    }

    /**
     * Checks and freezes.
     *
     * @throws IllegalArgumentException naming every fault
     */
    public SoftRdmaContext conclude() {
        if (profile != DeviceProfile.NONE && pinning == PinningPolicy.LAZY) {
            faults.add("pinning=lazy: profile=" + profile + " pins at registration; expected eager, off or auto");
        }
        if (roce && profile == DeviceProfile.SIW) {
            faults.add("profile=siw: SoftiWARP speaks iWARP; expected wire=iwarp, or profile=rxe or disni");
        }
        checkWire();
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", faults));
        }
        concluded = true;
        return this;
    }

    private void checkWire() {
        for (String name : given.stream().sorted().toList()) {
            if (roce ? OF_IWARP.contains(name) : name.startsWith(OF_ROCE)) {
                faults.add(
                        name + ": an option of wire=" + (roce ? "iwarp" : "roce") + "; leave it out, or choose that");
            }
        }
        if (roce && sameHost == SameHost.Mode.AUTO && given.contains("same-host")) {
            faults.add("same-host=auto: wire=roce reads all memory by the wire, also on the same host; expected off");
        }
    }

    /** True if the opening thread drives the device. */
    public boolean manualProgress() {
        return require(progress) == ProgressMode.MANUAL;
    }

    /** {@code epoll}, {@code uring}, {@code nio} or {@code auto}. */
    String transport() {
        return require(transport);
    }

    /** Engine threads. */
    public int threads() {
        return require(threads);
    }

    /** Where connections are captured, if they are. */
    Optional<Path> capture() {
        return require(Optional.ofNullable(capture));
    }

    /** True if the wire is RoCEv2. */
    boolean isRoce() {
        return require(roce);
    }

    /** True if READs on the same host may bypass the transport. */
    boolean sameHost() {
        return require(sameHostMode()) != SameHost.Mode.OFF;
    }

    private SameHost.Mode sameHostMode() {
        return roce ? SameHost.Mode.OFF : sameHost;
    }

    /** Options of every socket. */
    SocketOptions socketOptions() {
        return require(new SocketOptions(socketBuffer, socketBuffer, hostTimeoutMs));
    }

    /** How the device is made. */
    public DeviceSettings deviceSettings() {
        return require(new DeviceSettings(
                manualProgress(),
                Math.min(maxRegions, profile.limits().regions()),
                new PinningSettings(pinningPolicy(), pinBudget, pinGranule),
                sameHostMode(),
                engineLimits(),
                roce ? new RoceFactory(roce()) : new IwarpFactory(iwarp()),
                profile));
    }

    /** Only the soft RNIC pins lazily. */
    private PinningPolicy pinningPolicy() {
        boolean confined = profile != DeviceProfile.NONE;
        return confined && pinning == PinningPolicy.AUTO ? PinningPolicy.OFF : pinning;
    }

    private EngineLimits engineLimits() {
        return require(new EngineLimits(
                Math.ceilDiv(lingering, manualProgress() ? 1 : threads),
                new EngineTimeouts(
                        TimeUnit.MILLISECONDS.toNanos(handshakeTimeoutMs),
                        TimeUnit.MILLISECONDS.toNanos(lingerTimeoutMs),
                        TimeUnit.MILLISECONDS.toNanos(hostTimeoutMs))));
    }

    private RoceSettings roce() {
        return require(new RoceSettings(
                roceAddress,
                rocePort,
                rocePeerPort == 0 ? rocePort : rocePeerPort,
                roceTransferUnit,
                TimeUnit.MILLISECONDS.toNanos(roceTimeoutMs),
                roceRetries,
                roceRnrRetries,
                RnrTimer.code(ROCE_RECEIVER_WAIT_NS),
                roceWindow == 0 ? ROCE_WINDOW : roceWindow,
                roceWindow > 0,
                manualProgress()));
    }

    private IwarpSettings iwarp() {
        return require(new IwarpSettings(
                maxPayload,
                copyBelow,
                receiveBuffer,
                rfc7306 && profile.has(Feature.ATOMICS),
                crc,
                mpaRevision,
                TimeUnit.MILLISECONDS.toNanos(readyRepeatMs)));
    }

    private <T> T require(T value) {
        if (!concluded) {
            throw new IllegalStateException("the context is not concluded");
        }
        return value;
    }
}
