package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** What Java Flight Recorder is told. Other tests of this process may be recorded too, so events are looked for. */
class FlightTest {
    private static final String PREFIX = "org.softrdma.";
    private static final List<String> NAMES = List.of(
            "ConnectionMade",
            "ConnectionEnded",
            "AccessRefused",
            "ConnectionError",
            "PagesPinned",
            "PagesEvicted",
            "DeregistrationWait");

    private static final int GRANULE = 16 * 1024;
    private static final int BYTES = 16 * GRANULE;

    @TempDir
    private Path folder;

    private List<RecordedEvent> record(Runnable body) throws IOException {
        Path file = folder.resolve("flight.jfr");
        try (Recording recording = new Recording()) {
            NAMES.forEach(name -> recording.enable(PREFIX + name).withThreshold(Duration.ZERO));
            recording.start();
            body.run();
            recording.stop();
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file);
    }

    private static Set<Object> values(List<RecordedEvent> events, String name, String field) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(PREFIX + name))
                .<Object>map(event -> event.getValue(field))
                .collect(Collectors.toSet());
    }

    /** Connects, lets the peer send a segment that is refused, and returns the number of the queue pair. */
    private static int refuse(FakeDevice device, byte[] segment) {
        FakeSocket socket = device.socket();
        QueuePair pair = device.own(device.connect(socket, new QueuePairLimits(4, 4, 1, 1, 0), 1));
        socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
        socket.give(Frames.fpdu(segment, false));
        device.run();
        socket.giveReset();
        device.run();
        return pair.number();
    }

    @Test
    void shouldRecordAConnectionItsEndAndTheRefusedAccess() throws IOException {
        int[] number = new int[1];
        List<RecordedEvent> events = record(() -> {
            FakeDevice device = new FakeDevice();
            number[0] = refuse(device, Frames.tagged(Frames.WRITE, true, 7, 7, (byte) 1));
            device.close();
        });
        assertTrue(values(events, "ConnectionMade", "queuePair").contains(number[0]), events::toString);
        assertTrue(values(events, "ConnectionMade", "wire").toString().contains("iWARP"), events::toString);
        assertTrue(values(events, "ConnectionEnded", "queuePair").contains(number[0]), events::toString);
        assertTrue(values(events, "AccessRefused", "queuePair").contains(number[0]), events::toString);
    }

    @Test
    void shouldRecordAnErrorThatCostsAConnection() throws IOException {
        int[] number = new int[1];
        List<RecordedEvent> events = record(() -> {
            FakeDevice device = new FakeDevice();
            number[0] = refuse(device, Frames.send(1));
            device.close();
        });
        assertTrue(values(events, "ConnectionError", "queuePair").contains(number[0]), events::toString);
        assertFalse(values(events, "AccessRefused", "queuePair").contains(number[0]), events::toString);
    }

    private static String page() throws IOException {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.exists(at.resolve("docs/reference/counters.md"))) {
            at = Objects.requireNonNull(at.getParent(), "not below a checkout");
        }
        return Files.readString(at.resolve("docs/reference/counters.md"));
    }

    /** Also in a folder with a file of the category's name, as a checkout is: the tool would take it for a wildcard. */
    @Test
    void shouldBePrintedByTheCommandOfThePage() throws Exception {
        Path tool = Path.of(System.getProperty("java.home"), "bin", "jfr");
        Assumptions.assumeTrue(Files.isExecutable(tool), "no jfr in this JDK");
        record(() -> {
            FakeDevice device = new FakeDevice();
            refuse(device, Frames.send(1));
            device.close();
        });
        Files.createFile(folder.resolve("softrdma"));
        Matcher command = Pattern.compile("`jfr (print [^`]*)run\\.jfr`").matcher(page());
        assertTrue(command.find(), "the page has no command");
        Process process = new ProcessBuilder("sh", "-c", "'" + tool + "' " + command.group(1) + "flight.jfr")
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertEquals(0, process.waitFor(), printed);
        assertTrue(printed.contains(PREFIX + "ConnectionMade {"), printed);
    }

    /** The page names every counter and every event. */
    @Test
    void shouldBeWhatThePageLists() throws IOException {
        String page = page();
        try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of())) {
            List<String> missing =
                    new ArrayList<>(NAMES.stream().map(PREFIX::concat).toList());
            missing.addAll(device.counters().keySet());
            missing.removeIf(name -> page.contains("| `" + name + "` |"));
            assertTrue(missing.isEmpty(), missing::toString);
        }
    }

    private static VerbsDevice lazyDevice() {
        try {
            return VerbsProviders.named("sim")
                    .open(Map.of("pinning", "lazy", "pin-budget", "64k", "pin-granule", Integer.toString(GRANULE)));
        } catch (VerbsException e) {
            Assumptions.assumeTrue(e.code() != VerbsErrorCode.NOT_SUPPORTED, e.getMessage());
            throw e;
        }
    }

    @Test
    void shouldRecordPinsEvictionsAndTheWaitOfADeregistration() throws IOException {
        long[] address = new long[1];
        List<RecordedEvent> events = record(() -> {
            try (VerbsDevice device = lazyDevice();
                    ProtectionDomain domain = device.allocateProtectionDomain();
                    HostMemory memory = device.allocateMemory(BYTES)) {
                Assumptions.assumeTrue(device.capabilities().has(Feature.LAZY_PINNING), "no lazy pinning here");
                address[0] = memory.segment().address();
                try (MemoryRegion region =
                        domain.register(memory.segment(), Set.of(AccessFlag.LOCAL_WRITE), PinningPolicy.LAZY)) {
                    for (long at = 0; at < region.length(); at += GRANULE) {
                        domain.advise(Advice.PREFETCH_WRITE, true, region.address() + at, GRANULE, region.lkey());
                    }
                }
            }
        });
        for (String name : List.of("PagesPinned", "PagesEvicted")) {
            assertTrue(
                    values(events, name, "address").stream()
                            .mapToLong(each -> (long) each - address[0])
                            .anyMatch(offset -> offset > -GRANULE && offset < BYTES),
                    events::toString);
        }
        assertTrue(values(events, "PagesPinned", "reason").contains("USE"), events::toString);
        assertTrue(
                events.stream().anyMatch(event -> event.getEventType().getName().equals(PREFIX + "DeregistrationWait")),
                events::toString);
    }
}
