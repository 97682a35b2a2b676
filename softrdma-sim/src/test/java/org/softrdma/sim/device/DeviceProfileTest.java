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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** Profiles say what the devices said of themselves in the guest, and take away the rest. */
class DeviceProfileTest {
    /** Columns of the page. */
    private static final int RXE = 1;

    private static final int SIW = 2;
    private static final int DISNI_ON_RXE = 3;
    private static final int DISNI_ON_SIW = 4;

    private static final InetAddress LOOPBACK_6 = InetAddress.ofLiteral("::1");

    private static VerbsDevice open(DeviceProfile profile) {
        return VerbsProviders.named("sim").open(Map.of("profile", profile.toString()));
    }

    private static List<String> page() throws IOException {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.exists(at.resolve("docs/guide/backends.md"))) {
            at = Objects.requireNonNull(at.getParent(), "not below a checkout");
        }
        return Files.readAllLines(at.resolve("docs/guide/backends.md"));
    }

    private static List<String> row(String name) throws IOException {
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
        List<String> cells = row(name);
        assertEquals(number(cells.get(RXE)), limit.applyAsLong(DeviceProfile.RXE.limits()), name);
        assertEquals(number(cells.get(SIW)), limit.applyAsLong(DeviceProfile.SIW.limits()), name);
        assertEquals(
                Math.min(number(cells.get(DISNI_ON_RXE)), number(cells.get(DISNI_ON_SIW))),
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
        List<String> cells = row("features");
        assertEquals(features(cells.get(RXE)), DeviceProfile.RXE.features());
        assertEquals(features(cells.get(SIW)), DeviceProfile.SIW.features());
        Set<Feature> disni = features(cells.get(DISNI_ON_RXE));
        disni.retainAll(features(cells.get(DISNI_ON_SIW)));
        assertEquals(disni, DeviceProfile.DISNI.features());
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
