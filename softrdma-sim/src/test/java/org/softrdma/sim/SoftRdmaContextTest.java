package org.softrdma.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.sim.connection.IwarpFactory;
import org.softrdma.sim.connection.IwarpSettings;
import org.softrdma.sim.engine.EngineLimits;
import org.softrdma.sim.engine.EngineTimeouts;
import org.softrdma.sim.pinning.PinningSettings;
import org.softrdma.sim.roce.RoceFactory;
import org.softrdma.verbs.PinningPolicy;

/** Options of a device given as text. */
class SoftRdmaContextTest {
    private static SoftRdmaContext concluded(Map<String, String> options) {
        return new SoftRdmaContext().set(options).conclude();
    }

    private static void assertRefused(Map<String, String> options, String message) {
        assertEquals(
                message,
                assertThrows(IllegalArgumentException.class, () -> concluded(options))
                        .getMessage());
    }

    static Stream<String> names() {
        return SoftRdmaContext.OPTIONS.keySet().stream();
    }

    @Test
    void shouldTakeEveryOption() {
        SoftRdmaContext context = concluded(Map.ofEntries(
                Map.entry("progress", "manual"),
                Map.entry("transport", "nio"),
                Map.entry("threads", "3"),
                Map.entry("crc", "on"),
                Map.entry("mpa-revision", "1"),
                Map.entry("rfc7306", "off"),
                Map.entry("regions", "77"),
                Map.entry("segment", "1400"),
                Map.entry("copy-below", "100"),
                Map.entry("receive-buffer", "131072"),
                Map.entry("socket-buffer", "65536"),
                Map.entry("pinning", "lazy"),
                Map.entry("pin-budget", "64m"),
                Map.entry("pin-granule", "65536"),
                Map.entry("same-host", "off"),
                Map.entry("handshake-timeout", "1500"),
                Map.entry("ready-repeat", "30"),
                Map.entry("linger-timeout", "250"),
                Map.entry("lingering", "10"),
                Map.entry("host-timeout", "6000"),
                Map.entry("pcap", "a/capture")));
        assertEquals(Optional.of(Path.of("a/capture")), context.capture());
        assertEquals(
                new PinningSettings(PinningPolicy.LAZY, 64L << 20, 65_536),
                context.deviceSettings().pinning());
        assertTrue(context.manualProgress());
        assertEquals("nio", context.transport());
        assertEquals(3, context.threads());
        assertEquals(77, context.deviceSettings().maxRegions());
        assertEquals(new SocketOptions(65_536, 65_536, 6000), context.socketOptions());
        assertEquals(
                new EngineLimits(
                        10,
                        new EngineTimeouts(
                                TimeUnit.MILLISECONDS.toNanos(1500),
                                TimeUnit.MILLISECONDS.toNanos(250),
                                TimeUnit.MILLISECONDS.toNanos(6000))),
                context.deviceSettings().engine());
        assertEquals(
                new IwarpFactory(
                        new IwarpSettings(1400, 100, 131_072, false, true, 1, TimeUnit.MILLISECONDS.toNanos(30))),
                context.deviceSettings().wire());
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1000, 1000", "3k, 3072", "2G, 2147483648", "123456789012, 123456789012"})
    void shouldTakeSizes(String text, long bytes) {
        assertEquals(
                bytes,
                concluded(Map.of("pin-budget", text)).deviceSettings().pinning().budgetBytes());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "1.5m", "64mb", "m", "12345678901k"})
    void shouldRefuseWhatIsNoSize(String text) {
        assertRefused(
                Map.of("pin-budget", text), "pin-budget=" + text + ": expected bytes, or a number with k, m or g");
    }

    @Test
    void shouldRefuseAGranuleThatIsNoPowerOfTwo() {
        assertRefused(Map.of("pin-granule", "5000"), "pin-granule=5000: expected a power of two");
    }

    /** Number options: name, the least and the most value. */
    @ParameterizedTest
    @CsvSource({
        "threads, 1, 256",
        "mpa-revision, 1, 2",
        "regions, 1, 16777216",
        "segment, 8, 64748",
        "copy-below, 1, 64749",
        "receive-buffer, 131072, 67108864",
        "socket-buffer, 0, 1073741824",
        "handshake-timeout, 1, 3600000",
        "ready-repeat, 0, 3600000",
        "linger-timeout, 1, 3600000",
        "lingering, 1, 1048576",
        "host-timeout, 0, 3600000"
    })
    void shouldTakeNumbersInTheirRangeOnly(String name, long least, long most) {
        concluded(Map.of(name, Long.toString(least)));
        concluded(Map.of(name, Long.toString(most)));
        List<String> bad = List.of(
                Long.toString(least - 1),
                Long.toString(most + 1),
                "-2147483648",
                // As 32 bits this is a 1: it must not come through by a cast.
                "4294967297",
                "99999999999999999999",
                "",
                " 1",
                "1k",
                "0x10",
                "1.0",
                "one");
        for (String value : bad) {
            assertRefused(
                    Map.of(name, value), name + "=" + value + ": expected a number from " + least + " to " + most);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "progress, engine or manual",
        "transport, auto or epoll or nio or uring",
        "crc, off or on",
    })
    void shouldTakeTheNamedValuesOnly(String name, String choices) {
        Pattern.compile(" or ").splitAsStream(choices).forEach(choice -> concluded(Map.of(name, choice)));
        for (String value : List.of("", "true", "ENGINE", "auto ", "1")) {
            assertRefused(Map.of(name, value), name + "=" + value + ": expected " + choices);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Threads", "thread", "progress "})
    void shouldRefuseAnOptionThatItDoesNotKnowAndNameThoseItKnows(String name) {
        assertRefused(
                Map.of(name, "1"),
                name
                        + ": unknown option, expected one of progress, transport, threads, wire, roce-address,"
                        + " roce-port, roce-peer-port, roce-mtu, roce-timeout, roce-retries, roce-rnr-retries, roce-window, crc, mpa-revision, rfc7306,"
                        + " profile, regions, segment, copy-below, receive-buffer, socket-buffer, pinning, pin-budget,"
                        + " pin-granule, same-host, handshake-timeout, ready-repeat, linger-timeout, lingering,"
                        + " host-timeout, pcap");
    }

    @Test
    void shouldReportAllFaultsAtOnce() {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("threads", "0");
        options.put("crc", "on");
        options.put("progress", "fast");
        options.put("regions", "many");
        assertRefused(
                options,
                "threads=0: expected a number from 1 to 256; progress=fast: expected engine or manual; "
                        + "regions=many: expected a number from 1 to 16777216");
    }

    @Test
    void shouldStayUnusableWhenItWasRefused() {
        SoftRdmaContext context = new SoftRdmaContext().set(Map.of("threads", "0"));
        assertThrows(IllegalArgumentException.class, context::conclude);
        assertThrows(IllegalStateException.class, context::threads);
        assertThrows(IllegalArgumentException.class, context::conclude, "the fault does not go away");
    }

    @Test
    void shouldTellNothingBeforeItIsConcluded() {
        SoftRdmaContext context = new SoftRdmaContext();
        assertEquals(
                "the context is not concluded",
                assertThrows(IllegalStateException.class, context::deviceSettings)
                        .getMessage());
        assertThrows(IllegalStateException.class, context::manualProgress);
        assertThrows(IllegalStateException.class, context::socketOptions);
        assertThrows(IllegalStateException.class, context::transport);
        assertSame(context, context.conclude());
        assertFalse(context.manualProgress());
    }

    @Test
    void shouldBeFrozenOnceItIsConcluded() {
        SoftRdmaContext context = concluded(Map.of("threads", "2"));
        assertEquals(
                "the context is concluded",
                assertThrows(IllegalStateException.class, () -> context.set(Map.of("threads", "3")))
                        .getMessage());
        assertEquals(2, context.threads());
    }

    /** What the help says is what one gets. */
    @ParameterizedTest
    @MethodSource("names")
    void shouldHaveTheDefaultThatItsHelpNames(String name) {
        String help = String.valueOf(SoftRdmaContext.OPTIONS.get(name));
        Matcher said = Pattern.compile("; default ([^ :]+)").matcher(help);
        assertTrue(said.find(), help);
        Map<String, String> wire = name.startsWith("roce-") ? Map.of("wire", "roce") : Map.of();
        Map<String, String> both = new LinkedHashMap<>(wire);
        both.put(name, said.group(1));
        SoftRdmaContext set = concluded(both);
        SoftRdmaContext unset = concluded(wire);
        assertEquals(unset.deviceSettings(), set.deviceSettings());
        assertEquals(unset.socketOptions(), set.socketOptions());
        assertEquals(unset.manualProgress(), set.manualProgress());
        assertEquals(unset.transport(), set.transport());
        assertEquals(unset.threads(), set.threads());
    }

    @Test
    void shouldTakeTheOptionsOfTheWireThatIsChosen() {
        SoftRdmaContext context = new SoftRdmaContext()
                .set(Map.of("wire", "roce", "roce-port", "5000", "roce-mtu", "1024", "roce-timeout", "7"))
                .conclude();
        RoceFactory factory =
                assertInstanceOf(RoceFactory.class, context.deviceSettings().wire());
        assertEquals(5000, factory.settings().port());
        assertEquals(5000, factory.settings().peerPort());
        assertEquals(1024, factory.settings().transferUnit());
        assertEquals(TimeUnit.MILLISECONDS.toNanos(7), factory.settings().timeoutNs());
        assertFalse(context.sameHost());
        assertEquals(64, factory.settings().window());
        assertTrue(factory.settings().fixedWindow());
    }

    @Test
    void shouldTakeAWindowThatIsFixed() {
        RoceFactory factory = assertInstanceOf(
                RoceFactory.class,
                concluded(Map.of("wire", "roce", "roce-window", "100"))
                        .deviceSettings()
                        .wire());
        assertEquals(100, factory.settings().window());
        assertTrue(factory.settings().fixedWindow());
        assertRefused(Map.of("wire", "roce", "roce-window", "3"), "roce-window=3: expected 0, or a number from 4");
    }

    @ParameterizedTest
    @CsvSource({
        "roce,crc,on,crc: an option of wire=iwarp",
        "roce,rfc7306,off,rfc7306: an option of wire=iwarp",
        "roce,same-host,auto,same-host=auto: wire=roce reads all memory by the wire",
        "roce,profile,siw,profile=siw: SoftiWARP speaks iWARP",
        "iwarp,roce-port,4791,roce-port: an option of wire=roce"
    })
    void shouldRefuseWhatTheWireDoesNotHave(String wire, String name, String value, String fault) {
        SoftRdmaContext context = new SoftRdmaContext().set(Map.of("wire", wire, name, value));
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, context::conclude);
        assertTrue(String.valueOf(refused.getMessage()).startsWith(fault), refused::getMessage);
    }
}
