package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** Profiles say what the devices said of themselves in the guest, and take away the rest. */
class DeviceProfileTest {
    /** Headings of the page's columns. */
    private static final String RXE = "rdmacore on rxe";

    private static final String SIW = "rdmacore on siw";
    private static final String DISNI_ON_RXE = "disni on rxe";
    private static final String DISNI_ON_SIW = "disni on siw";

    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final InetAddress LOOPBACK_6 = InetAddress.ofLiteral("::1");

    private static VerbsDevice open(DeviceProfile profile) {
        return VerbsProviders.named("sim").open(Map.of("profile", profile.toString()));
    }

    private static List<String> page() throws IOException {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.exists(at.resolve("docs/reference/conformance.md"))) {
            at = Objects.requireNonNull(at.getParent(), "not below a checkout");
        }
        return Files.readAllLines(at.resolve("docs/reference/conformance.md"));
    }

    /** The cells of a row by their columns' headings. */
    private static Map<String, String> row(String name) throws IOException {
        List<String> headings = cells("");
        List<String> cells = cells(name);
        Map<String, String> row = new HashMap<>();
        for (int i = 0; i < headings.size(); i++) {
            row.put(headings.get(i), cells.get(i));
        }
        return row;
    }

    private static List<String> cells(String name) throws IOException {
        return page().stream()
                .filter(line -> line.startsWith("| " + name + " |"))
                .map(line ->
                        Arrays.stream(line.split("\\|", -1)).map(String::strip).toList())
                .map(cells -> cells.subList(1, cells.size() - 1))
                .findFirst()
                .orElseThrow();
    }

    private static long number(String cell) {
        return cell.equals("no limit") ? Long.MAX_VALUE : Long.parseLong(cell.replaceFirst(",.*", ""));
    }

    private static void assertLimit(String name, ToLongFunction<DeviceProfile.Limits> limit) throws IOException {
        Map<String, String> cells = row(name);
        assertEquals(number(cells.getOrDefault(RXE, "")), limit.applyAsLong(DeviceProfile.RXE.limits()), name);
        assertEquals(number(cells.getOrDefault(SIW, "")), limit.applyAsLong(DeviceProfile.SIW.limits()), name);
        assertEquals(
                Math.min(number(cells.getOrDefault(DISNI_ON_RXE, "")), number(cells.getOrDefault(DISNI_ON_SIW, ""))),
                limit.applyAsLong(DeviceProfile.DISNI.limits()),
                name);
    }

    @Test
    void shouldHaveTheLimitsThatTheDevicesHadInTheGuest() throws IOException {
        assertLimit("send work requests", DeviceProfile.Limits::workRequests);
        assertLimit("RECVs", DeviceProfile.Limits::workRequests);
        assertLimit("entries of a SEND, WRITE or RECV", DeviceProfile.Limits::scatterGather);
        assertLimit("entries of a READ", DeviceProfile.Limits::scatterGatherRead);
        assertLimit("inline bytes", DeviceProfile.Limits::inline);
        assertLimit("completion queue entries", DeviceProfile.Limits::completions);
        assertLimit("memory regions", DeviceProfile.Limits::regions);
        assertLimit("bytes of a region", DeviceProfile.Limits::regionLength);
        assertLimit("bytes of a message", DeviceProfile.Limits::messageLength);
        assertLimit("READs out, in", DeviceProfile.Limits::reads);
        assertLimit("bytes of private data", DeviceProfile.Limits::privateData);
    }

    @Test
    void shouldHaveTheFeaturesThatTheDevicesHadInTheGuest() throws IOException {
        Map<String, String> cells = row("features");
        assertEquals(features(cells.getOrDefault(RXE, "")), DeviceProfile.RXE.features());
        assertEquals(features(cells.getOrDefault(SIW, "")), DeviceProfile.SIW.features());
        assertEquals(features(cells.getOrDefault(DISNI_ON_RXE, "")), DeviceProfile.DISNI.features());
        assertEquals(features(cells.getOrDefault(DISNI_ON_SIW, "")), featuresOfDisni("iwarp"));
        assertEquals(features(cells.getOrDefault(DISNI_ON_RXE, "")), featuresOfDisni("roce"));
    }

    private static Set<Feature> featuresOfDisni(String wire) {
        try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of("profile", "disni", "wire", wire))) {
            return device.capabilities().features();
        }
    }

    /** What one side has seen of the other's private data: bytes of the request, and of the answer. */
    private record Seen(int requestBytes, int answerBytes) {}

    private static byte[] said(VerbsDevice device) {
        return new byte[Math.min(3, device.capabilities().maxPrivateData())];
    }

    /** A connection that is accepted, or rejected, with private data on both ways where a device has some. */
    private static Seen exchange(Map<String, String> options, String active, String passive, boolean accepts) {
        Map<String, String> ofActive = new HashMap<>(options);
        ofActive.put("profile", active);
        Map<String, String> ofPassive = new HashMap<>(options);
        ofPassive.put("profile", passive);
        try (VerbsDevice there = VerbsProviders.named("sim").open(ofPassive);
                ProtectionDomain domain = there.allocateProtectionDomain();
                CompletionQueue queue = there.createCompletionQueue(4);
                Listener listener = there.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
                VerbsDevice here = VerbsProviders.named("sim").open(ofActive);
                ProtectionDomain ownDomain = here.allocateProtectionDomain();
                CompletionQueue ownQueue = here.createCompletionQueue(4)) {
            CompletableFuture<byte[]> request =
                    CompletableFuture.supplyAsync(() -> answer(listener, domain, queue, said(there), accepts));
            Connector connector = here.resolve(listener.localAddress(), PATIENCE_NS);
            byte[] answer;
            try (QueuePair pair = connector.createQueuePair(ownDomain, attributes(ownQueue))) {
                answer = connect(connector, ConnectionParameters.ofReads(1).withPrivateData(said(here)));
                assertEquals(accepts, pair.state() == QueuePairState.READY_TO_SEND);
            }
            return new Seen(request.join().length, answer.length); // the other side waits for the end
        }
    }

    private static QueuePairAttributes attributes(CompletionQueue queue) {
        return QueuePairAttributes.of(queue, QueuePairLimits.of(2, 2));
    }

    private static byte[] answer(
            Listener listener, ProtectionDomain domain, CompletionQueue queue, byte[] said, boolean accepts) {
        try (ConnectionRequest request = listener.next(PATIENCE_NS).orElseThrow()) {
            if (accepts) {
                try (QueuePair pair = request.createQueuePair(domain, attributes(queue))) {
                    request.accept(ConnectionParameters.ofReads(1).withPrivateData(said));
                    pair.disconnected().toCompletableFuture().join();
                }
            } else {
                request.reject(said);
            }
            return request.privateData();
        }
    }

    private static byte[] connect(Connector connector, ConnectionParameters parameters) {
        try {
            return connector.connect(parameters, PATIENCE_NS);
        } catch (ConnectionRejectedException e) {
            return e.privateData();
        }
    }

    /** iWARP's messages would bring what DiSNI does not show, and RoCE's have fields that are never empty. */
    @ParameterizedTest
    @CsvSource({"iwarp, true", "iwarp, false", "roce, true", "roce, false"})
    void shouldShowNoPrivateDataWithinAProfileThatHasNone(String wire, boolean accepts) {
        Map<String, String> options = wire.equals("iwarp")
                ? Map.of("wire", wire)
                : Map.of("wire", wire, "roce-port", Integer.toString(TestDevice.freeRocePort()));
        assertEquals(0, exchange(options, "disni", "none", accepts).answerBytes());
        assertEquals(0, exchange(options, "none", "disni", accepts).requestBytes());
        Seen shown = exchange(options, "none", "none", accepts);
        assertTrue(shown.requestBytes() >= 3 && shown.answerBytes() >= 3);
    }

    private static Set<Feature> features(String cell) {
        return Arrays.stream(cell.split(", "))
                .filter(name -> !name.equals("none"))
                .map(Feature::valueOf)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(Feature.class)));
    }

    @ParameterizedTest
    @EnumSource(DeviceProfile.class)
    void shouldOfferNoMoreThanTheProfileHas(DeviceProfile profile) {
        try (VerbsDevice device = open(profile);
                VerbsDevice unconfined = open(DeviceProfile.NONE)) {
            Capabilities capabilities = device.capabilities();
            assertTrue(profile.features().containsAll(capabilities.features()), capabilities::toString);
            assertTrue(unconfined.capabilities().features().containsAll(capabilities.features()));
            assertTrue(capabilities.maxScatterGather() <= profile.limits().scatterGather());
            assertTrue(capabilities.maxMemoryRegions() <= profile.limits().regions());
            assertEquals(
                    capabilities.has(Feature.MEMORY_WINDOWS), capabilities.maxMemoryWindows() > 0, "memory windows");
        }
    }

    private static void expectRefused(Feature feature, Runnable use) {
        VerbsException refused = assertThrows(VerbsException.class, use::run);
        assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
        assertTrue(String.valueOf(refused.getMessage()).contains(feature + "; profile=disni"), refused::getMessage);
    }

    @Test
    void shouldRefuseWhatTheProfileLacks() {
        try (VerbsDevice device = open(DeviceProfile.DISNI);
                ProtectionDomain domain = device.allocateProtectionDomain();
                var memory = device.allocateMemory(64);
                var region = domain.register(memory.segment(), Set.of(AccessFlag.LOCAL_WRITE));
                CompletionQueue queue = device.createCompletionQueue(4)) {
            Map<Feature, AccessFlag> flags = Map.of(
                    Feature.ATOMICS, AccessFlag.REMOTE_ATOMIC,
                    Feature.ZERO_BASED, AccessFlag.ZERO_BASED,
                    Feature.ORDERED_PLACEMENT, AccessFlag.POLLED,
                    Feature.MEMORY_WINDOWS, AccessFlag.BIND_WINDOWS);
            flags.forEach((feature, flag) -> expectRefused(
                    feature, () -> domain.register(memory.segment(), Set.of(AccessFlag.LOCAL_WRITE, flag))));
            expectRefused(Feature.MEMORY_WINDOWS, domain::allocateWindow);
            expectRefused(Feature.SHARED_RECEIVE_QUEUES, () -> domain.createSharedReceiveQueue(1, 1));
            expectRefused(Feature.REGION_SWAP, () -> region.swap(region));
            expectRefused(Feature.ASYNC_EVENTS, () -> device.awaitEvent(0));
            expectRefused(Feature.IPV6, () -> device.listen(new InetSocketAddress(LOOPBACK_6, 0), 1));
            expectRefused(Feature.IPV6, () -> device.resolve(new InetSocketAddress(LOOPBACK_6, 1), 0));
            assertThrows(VerbsException.class, () -> queue.resize(8));
            assertThrows(IllegalArgumentException.class, () -> device.createCompletionQueue(32_768));
        }
    }

    @Test
    void shouldRefuseToPinLazilyWithinAProfile() {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> VerbsProviders.named("sim").open(Map.of("profile", "rxe", "pinning", "lazy")));
        assertTrue(String.valueOf(refused.getMessage()).contains("pins at registration"), refused::getMessage);
    }
}
