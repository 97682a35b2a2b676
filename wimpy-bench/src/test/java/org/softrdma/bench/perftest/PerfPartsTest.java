package org.softrdma.bench.perftest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.read.MemoryPattern;
import org.softrdma.bench.read.ReadTargets;

class PerfPartsTest {
    @ParameterizedTest
    @CsvSource({"2,2", "64K,65536", "1m,1048576", "3G,3221225472", "0,0", "1500,1500"})
    void shouldReadSizesWithSuffixes(String text, long expected) {
        assertEquals(expected, ByteSize.parse(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "K", "1.5K", "-1", "9999999999G", "12Q", "1KB"})
    void shouldRefuseWhatIsNotASize(String text) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> ByteSize.parse(text));
        assertTrue(refused.toString().contains("is not a size"), refused.toString());
    }

    @ParameterizedTest
    @CsvSource({"1024,1K", "10240,10K", "1000,1000", "1048576,1M", "0,0", "2147483648,2G"})
    void shouldWriteSizesShort(long size, String expected) {
        assertEquals(expected, ByteSize.format(size));
    }

    @Test
    void shouldWriteControlMessagesAsDrawn() {
        MemorySegment bytes = MemorySegment.ofArray(new byte[PerfMessage.LENGTH]);

        PerfMessage.withText(PerfMessage.RESULT, "ab", 1, -1, 0x1122334455667788L)
                .write(bytes);

        byte[] array = bytes.toArray(ValueLayout.JAVA_BYTE);
        assertEquals(
                "53525046" + "0001" + "0007" + "0000000000000001" + "ffffffffffffffff" + "1122334455667788"
                        + "00".repeat(40) + "00000002" + "6162" + "00".repeat(178),
                HexFormat.of().formatHex(array));
        PerfMessage read = PerfMessage.read(bytes);
        assertEquals(PerfMessage.RESULT, read.kind());
        assertEquals(-1, read.value(1));
        assertEquals(0, read.value(7));
        assertEquals("ab", read.text());
    }

    @Test
    void shouldRefuseControlMessagesOfAnotherLengthVersionOrProtocol() {
        MemorySegment bytes = MemorySegment.ofArray(new byte[PerfMessage.LENGTH]);
        PerfMessage.of(PerfMessage.READY).write(bytes);
        for (long length = 0; length < PerfMessage.LENGTH; length++) {
            MemorySegment part = bytes.asSlice(0, length);
            assertThrows(MeasurementException.class, () -> PerfMessage.read(part));
        }
        bytes.set(ValueLayout.JAVA_BYTE, 5, (byte) 2);
        assertTrue(assertThrows(MeasurementException.class, () -> PerfMessage.read(bytes))
                .toString()
                .contains("version 2"));
        PerfMessage.of(PerfMessage.READY).write(bytes);
        bytes.set(ValueLayout.JAVA_BYTE, 72, (byte) 0x80);
        assertThrows(MeasurementException.class, () -> PerfMessage.read(bytes));
        bytes.set(ValueLayout.JAVA_BYTE, 0, (byte) 0);
        assertThrows(MeasurementException.class, () -> PerfMessage.read(bytes));
    }

    @Test
    void shouldCutATextThatIsTooLong() {
        MemorySegment bytes = MemorySegment.ofArray(new byte[PerfMessage.LENGTH]);
        PerfMessage.withText(PerfMessage.REFUSED, "x".repeat(500)).write(bytes);

        assertEquals("x".repeat(PerfMessage.MAX_TEXT), PerfMessage.read(bytes).text());
    }

    @Test
    void shouldNameEveryFaultOfTheOptions() {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> new PerfOptions(PerfTest.READ_LATENCY, List.of(0L), 1, 0, 2, 128, 0, 0, false, 1, 0, true));

        for (String name : List.of("-s", "-n", "-q", "-b")) {
            assertTrue(refused.toString().contains(name), refused.toString());
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> new PerfOptions(PerfTest.READ_BANDWIDTH, List.of(1L), 5, 0, 1, 8, 0, 0, false, 9, 0, false));
    }

    @Test
    void shouldNameEveryFaultOfAtomicsAndInitiators() {
        IllegalArgumentException wrongSize = assertThrows(
                IllegalArgumentException.class,
                () -> new PerfOptions(PerfTest.ATOMIC_LATENCY, List.of(4L), 5, 0, 1, 8, 0, 0, false, 1, 0, true));
        for (String fault : List.of("-s 4: an atomic has 8 bytes", "-b: only")) {
            assertTrue(wrongSize.toString().contains(fault), wrongSize.toString());
        }
        IllegalArgumentException wrongTest = assertThrows(
                IllegalArgumentException.class,
                () -> new PerfOptions(PerfTest.ECHO, List.of(4L), 5, 0, 1, 8, 0, 0, false, 1, 0, false, true, 2));
        for (String fault : List.of("-A: only", "--initiators 2: expected 1")) {
            assertTrue(wrongTest.toString().contains(fault), wrongTest.toString());
        }
        IllegalArgumentException asleep = assertThrows(
                IllegalArgumentException.class,
                () -> new PerfOptions(PerfTest.ECHO, List.of(4L), 5, 0, 1, 8, 0, 0, true, 1, 0, false));
        assertTrue(asleep.toString().contains("-e: "), asleep.toString());
    }

    @Test
    void shouldNameAtomicsAsPerftestDoes() {
        PerfOptions add = new PerfOptions(PerfTest.ATOMIC_LATENCY, List.of(8L), 5, 0, 1, 8, 0, 0, false, 1, 0, false);
        PerfOptions swap =
                new PerfOptions(PerfTest.ATOMIC_BANDWIDTH, List.of(8L), 5, 0, 1, 8, 0, 0, false, 1, 0, false, true, 2);
        assertEquals("Atomic FETCH_AND_ADD Latency Test", add.title());
        assertEquals("Atomic CMP_AND_SWAP BW Test", swap.title());
        assertEquals("RDMA_Read BW Test", PerfTest.READ_BANDWIDTH.title(""));
    }

    @Test
    void shouldOfferAllSizesLikePerftest() {
        List<Long> sizes = PerfOptions.allSizes();

        assertEquals(2, sizes.getFirst());
        assertEquals(8_388_608, sizes.getLast());
        assertEquals(23, sizes.size());
    }

    @Test
    void shouldPrintPerftestsColumns() {
        assertEquals(
                " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99%"
                        + " percentile[usec]   99.9% percentile[usec] ",
                PerfTable.LATENCY_HEADER);
        assertEquals(
                " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]",
                PerfTable.BANDWIDTH_HEADER);
        PerfOptions options =
                new PerfOptions(PerfTest.READ_BANDWIDTH, List.of(65536L), 5000, 0, 1, 128, 0, 0, false, 100, 0, false);
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("BW_peak", 2775.5);
        values.put("BW_average", 2700.25);
        values.put("MsgRate", 0.043204);
        PerfTable table = new PerfTable(new PrintWriter(new StringWriter()), options, false, false, false);

        assertEquals(
                " 65536      5000             2775.50            2700.25\t\t   0.043204",
                table.format(new PerfRow(65536, 5000, values, new ServerCpu(1, -1, 1, 1, ""))));
    }

    @Test
    void shouldFindPerftestsFiguresOfATest() {
        long[] times = new long[1000];
        for (int i = 0; i < times.length; i++) {
            times[i] = (times.length - i) * 2000L;
        }
        PerfRow figures = new PerfRow(1, 1, new LatencySamples(times, true).figures(), new ServerCpu(1, -1, 1, 1, ""));

        assertEquals(1, figures.value("t_min"));
        assertEquals(1000, figures.value("t_max"));
        assertEquals(500.5, figures.value("t_typical"));
        assertEquals(500.5, figures.value("t_avg"), 1e-9);
        assertEquals(990, figures.value("percent_99"));
        assertEquals(999, figures.value("percent_99.9"));
        assertEquals(288.675, figures.value("t_stdev"), 1e-3);
        assertArrayEquals(new double[] {2, 1}, new LatencySamples(new long[] {2000, 1000}, false).unsortedMicros());
    }

    @Test
    void shouldSayThatCoresWereNotMeasured() {
        assertTrue(new ServerCpu(2000, -1, 5000, 2, "rnic 1.000").describe().contains("not measured"));
        assertEquals(1.0, new ServerCpu(2000, 4000, 5000, 2, "").processMicros());
        assertEquals(2.0, new ServerCpu(2000, 4000, 5000, 2, "").coreMicros());
    }

    @Test
    void shouldFillMemoryLikeTheYardstickAndFindWhatDiffers() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(1000);
            MemoryPattern.fill(memory);
            for (int i = 0; i < 1000; i++) {
                assertEquals((byte) (i * 31 + 7), memory.get(ValueLayout.JAVA_BYTE, i));
            }
            MemoryPattern pattern = new MemoryPattern(500);
            assertEquals(-1, pattern.mismatch(memory.asSlice(321, 500), 321));
            memory.set(ValueLayout.JAVA_BYTE, 400, (byte) 0);
            assertEquals(79, pattern.mismatch(memory.asSlice(321, 500), 321));
        }
    }

    @Test
    void shouldReadTheSamePositionsWhateverTheStags() {
        int positions = 1000;
        ReadTargets few = ReadTargets.ofSlices(5000, new int[] {7, 8}, positions, 256);
        int[] keys = new int[positions];
        for (int i = 0; i < positions; i++) {
            keys[i] = i;
        }
        ReadTargets many = ReadTargets.ofSlices(5000, keys, positions, 256);
        boolean[] seen = new boolean[positions];
        for (int i = 0; i < 20_000; i++) {
            few.next();
            many.next();
            assertEquals(few.address(), many.address());
            int position = (int) (many.offset() / 256);
            assertEquals(position, many.rkey());
            assertEquals(position < 500 ? 7 : 8, few.rkey());
            seen[position] = true;
        }
        for (boolean one : seen) {
            assertTrue(one);
        }
        ReadTargets region = ReadTargets.ofRegion(100, 1024, 3, 1000);
        region.next();
        assertEquals(100, region.address());
        assertEquals(3, region.rkey());
    }
}
