package org.softrdma.run.uverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.run.card.Card;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.card.EventWriter;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.ScriptedKernel;

/** Commands as rdma-core sends them. */
class UverbsDeviceTest {
    private static final int DESCRIPTOR = 960;
    private static final int REQUEST = 0;
    private static final int INPUT = 512;
    private static final int OUTPUT = 1024;
    private static final int DRIVER_OUTPUT = 2048;
    private static final int EXTENDED = 0x8000_0000;
    private static final int INVOKE_WRITE = 0;
    private static final int DONE = 0;
    private static final int ROOM = 1 << 16;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final RxeDevice rxe = RxeDevice.of(List.of(new GidEntry(InetAddress.getLoopbackAddress(), "lo")), 1500);
    private final Card card = new Card(rxe, kernel.listener(), CardSettings.usual());
    private final UverbsDevice device = new UverbsDevice(
            kernel, DescriptorRange.below(1024), rxe, card, new EventWriter(Architecture.X86_64), Arena.ofAuto());

    @AfterEach
    void close() {
        device.close();
        card.close();
    }

    @BeforeEach
    void open() throws CallRefusedException {
        device.open(kernel.call(LinuxCall.OPENAT), true, false);
        assertEquals(
                List.of(
                        "kill " + kernel.processOf(1) + " when closed",
                        "give 1 1023 closeOnExec",
                        "give 1 960 closeOnExec answer"),
                kernel.answers);
        assertEquals(DONE, command(0, 8, 0, 0));
    }

    /** Sends a command; returns the errno, or {@link #DONE}. The words are the input. */
    private int command(int number, int room, int... input) {
        return invoke(INVOKE_WRITE, number, room, input);
    }

    private int invoke(int method, int number, int room, int... input) {
        MemorySegment memory = kernel.memory();
        memory.asSlice(OUTPUT).fill((byte) 0);
        for (int i = 0; i < input.length; i++) {
            memory.set(ValueLayout.JAVA_INT, INPUT + 4L * i, input[i]);
        }
        memory.set(ValueLayout.JAVA_SHORT, REQUEST + 2, (short) 0);
        memory.set(ValueLayout.JAVA_SHORT, REQUEST + 4, (short) method);
        memory.set(ValueLayout.JAVA_SHORT, REQUEST + 6, (short) 4);
        attribute(0, 2, 4, number & 0xFFFF_FFFFL);
        int bytes = 4 * input.length;
        attribute(1, 0, bytes, bytes <= 8 ? memory.get(ValueLayout.JAVA_LONG, INPUT) : at(INPUT));
        attribute(2, 1, room, at(OUTPUT));
        attribute(3, 0x1001, 32, at(DRIVER_OUTPUT));
        try {
            device.answer(kernel.call(LinuxCall.IOCTL, DESCRIPTOR, 0xC018_1B01L, at(REQUEST)));
            return DONE;
        } catch (CallRefusedException e) {
            return e.errno();
        }
    }

    private static long at(int offset) {
        return ScriptedKernel.MEMORY + offset;
    }

    private void attribute(int index, int id, int length, long value) {
        int offset = REQUEST + 24 + 16 * index;
        kernel.memory().set(ValueLayout.JAVA_SHORT, offset, (short) id);
        kernel.memory().set(ValueLayout.JAVA_SHORT, offset + 2, (short) length);
        kernel.memory().set(ValueLayout.JAVA_LONG, offset + 8, value);
    }

    private int output(int offset) {
        return kernel.memory().get(ValueLayout.JAVA_INT, OUTPUT + offset);
    }

    private int driverOutput(int offset) {
        return kernel.memory().get(ValueLayout.JAVA_INT, DRIVER_OUTPUT + offset);
    }

    private int made(int number, int room, int... input) {
        assertEquals(DONE, command(number, room, input));
        return output(0);
    }

    private int domain() {
        return made(3, 4, 0, 0);
    }

    private int completions() {
        return made(18, 8, 0, 0, 1, 0, 100, 0, -1, 0, 0, 0);
    }

    private int pair(int type, int domain, int completions) {
        return made(24, 32, 0, 0, 9, 0, domain, completions, completions, 0, 10, 20, 2, 3, 64, (type << 8) | 1, 0, 0);
    }

    private int modify(int pair, int mask, int state) {
        int[] input = new int[28];
        input[16] = pair;
        input[17] = mask;
        input[24] = state;
        input[26] = 1; // port
        return command(26, 0, input);
    }

    @Test
    void shouldTellTheseBytesOfADevice() {
        assertEquals(DONE, command(1, 176, 0, 0));
        assertEquals(
                "0000000000000000" + "0250fffe7f000001" + "0250fffe7f000001" + "ffffffffffffffff"
                        + "00f0ffff00000000" + "ffffff00" + "00000000" + "00000000" + "00000100"
                        + "00400000" + "763c2201" + "20000000" + "20000000" + "00000100" + "ff7f0000"
                        + "00000800" + "00000100" + "80000000" + "00000000" + "00f00300" + "80000000"
                        + "00000000" + "01000000" + "00000000" + "00000000" + "00000100" + "00000000"
                        + "00000000" + "00200000" + "38000000" + "00000700" + "00800000" + "00000000"
                        + "00000000" + "00800000" + "00400000" + "1b000000" + "4000" + "0f" + "01" + "00000000",
                kernel.hex(OUTPUT, 176));
        assertEquals("00".repeat(128), kernel.hex(OUTPUT + 176, 128));
    }

    @Test
    void shouldTellTheExtendedFormHowLongItIs() {
        assertEquals(DONE, command(EXTENDED | 1, 304, 0, 0));
        assertEquals(304, output(180));
        assertEquals(0x0122_3C76, output(224));
        assertEquals(DONE, command(EXTENDED | 1, 232, 0, 0)); // an older rdma-core
        assertEquals(232, output(180));
    }

    @Test
    void shouldSayThatThereIsNoRoomWhenAskedWhetherTheCommandIsThere() {
        assertEquals(ErrorNumber.ENOSPC, command(EXTENDED | 1, 0, 0, 0));
    }

    @Test
    void shouldTellTheseBytesOfAPort() {
        assertEquals(DONE, command(2, 40, 0, 0, 1));
        assertEquals(
                "00000104" + "00000080" + "00000000" + "00000000" + "01000000" + "0100" + "0000" + "0000" + "04" + "05"
                        + "03" + "00" + "01" + "00" + "00" + "00" + "01" + "01" + "05" + "02" + "00" + "00",
                kernel.hex(OUTPUT, 40));
        assertEquals(ErrorNumber.EINVAL, command(2, 40, 0, 0, 2));
    }

    @Test
    void shouldGiveAContextItsEventsOnce() {
        assertEquals(3, output(0));
        assertEquals(1, output(4));
        assertEquals(ErrorNumber.EINVAL, command(0, 8, 0, 0));
    }

    @Test
    void shouldRefuseNewerFormsSoThatLibrariesFallBack() {
        assertEquals(ErrorNumber.EPROTONOSUPPORT, invoke(1, 0, 8, 0, 0));
        assertEquals(ErrorNumber.EOPNOTSUPP, command(99, 8, 0, 0));
    }

    @Test
    void shouldLeaveOtherDescriptorsToTheKernel() throws CallRefusedException {
        kernel.answers.clear();
        device.answer(kernel.call(LinuxCall.IOCTL, 5, 0xC018_1B01L, at(REQUEST)));
        assertEquals(List.of("pass 3"), kernel.answers);
    }

    /** A program that opens it again and again, and asks for nothing, takes nothing from others. */
    @Test
    void shouldKeepNothingOfAFileThatIsOnlyOpened() throws CallRefusedException {
        Set<Integer> open = Set.copyOf(kernel.open);
        for (int i = 0; i < 10; i++) {
            device.open(kernel.call(LinuxCall.OPENAT), true, false);
        }
        assertEquals(1, device.contexts());
        assertEquals(1, kernel.mappings.size());
        assertEquals(open, kernel.open);
    }

    @Test
    void shouldRefuseWhatComesBeforeTheContext() throws CallRefusedException {
        device.close();
        for (int number : new int[] {1, 2, 3, 17}) {
            assertEquals(ErrorNumber.EINVAL, command(number, 176, 0, 0, 1));
        }
        assertEquals(DONE, command(0, 8, 0, 0));
        assertEquals(DONE, command(3, 4, 0, 0));
    }

    /** However many contexts it has. */
    @Test
    void shouldEndAProcessWithThisOneByOnePipe() throws CallRefusedException {
        kernel.answers.clear();
        device.open(kernel.call(LinuxCall.OPENAT), false, false);
        assertEquals(List.of("give 3 961 answer"), kernel.answers);
        kernel.abandoned.addAll(kernel.open); // it has become another program
        kernel.answers.clear();
        device.open(kernel.call(LinuxCall.OPENAT), false, false);
        assertEquals("kill " + kernel.processOf(1) + " when closed", kernel.answers.getFirst());
    }

    @Test
    void shouldForgetAContextThatNobodyHas() throws CallRefusedException {
        assertEquals(1, device.contexts());
        kernel.abandoned.addAll(kernel.open);
        assertEquals(0, device.contexts());
        assertTrue(kernel.open.isEmpty(), () -> "left open: " + kernel.open);
        assertTrue(kernel.mappings.isEmpty(), "left mapped");
    }

    @Test
    void shouldForgetAContextLaterForWhichThereIsNoMemoryNow() {
        assertEquals(DONE, command(17, 4, 0, 0));
        kernel.abandoned.addAll(kernel.open);
        kernel.withoutMemory = true;
        assertThrows(OutOfMemoryError.class, device::contexts);
        assertEquals(0, device.contexts());
        assertTrue(kernel.open.isEmpty(), () -> "left open: " + kernel.open);
        assertTrue(kernel.mappings.isEmpty(), "left mapped");
    }

    /** What is half made for want of memory cannot be made again; to arm a queue changes nothing that could be half changed. */
    @Test
    void shouldFindRoomInTheHeapBeforeACommandChangesAnything() {
        int completions = completions();
        assertTrue(fewestBytes(() -> assertEquals(DONE, command(23, 0, completions, 0))) < ROOM);
        assertFalse(device.changes());
        assertTrue(fewestBytes(() -> assertEquals(DONE, command(2, 40, 0, 0, 1))) >= ROOM);
        assertTrue(device.changes());
    }

    /** Of a few times: the first one links. */
    private static long fewestBytes(Runnable task) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long fewest = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            task.run();
            fewest = Math.min(fewest, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return fewest;
    }

    @Test
    void shouldMakeRingsAsRxeDoes() {
        completions();
        assertEquals(127, output(4)); // one less than the next power of two
        int offset = driverOutput(0);
        assertEquals(384 + 128 * 64, driverOutput(8));
        MemorySegment ring = kernel.mappings.getFirst().asSlice(offset);
        assertEquals(6, ring.get(ValueLayout.JAVA_INT, 0));
        assertEquals(127, ring.get(ValueLayout.JAVA_INT, 4));
    }

    @Test
    void shouldUseThePlaceOfARingAgain() {
        int first = completions();
        int offset = driverOutput(0);
        assertEquals(DONE, command(20, 8, 0, 0, first));
        completions();
        assertEquals(offset, driverOutput(0));
    }

    @Test
    void shouldRefuseToTakeAwayWhatIsInUse() {
        int domain = domain();
        int completions = completions();
        int pair = pair(2, domain, completions);
        assertEquals(ErrorNumber.EBUSY, command(4, 0, domain));
        assertEquals(ErrorNumber.EBUSY, command(20, 8, 0, 0, completions));
        assertEquals(DONE, command(27, 4, 0, 0, pair));
        assertEquals(DONE, command(20, 8, 0, 0, completions));
        assertEquals(DONE, command(4, 0, domain));
        assertEquals(ErrorNumber.EINVAL, command(4, 0, domain));
        assertEquals(ErrorNumber.EINVAL, command(27, 4, 0, 0, pair));
    }

    @Test
    void shouldMakeQueuePairsWithTwoRings() {
        int pair = pair(2, domain(), completions());
        assertTrue(pair > 0);
        assertTrue(output(4) > 1 && output(4) < 1 << 24);
        assertEquals(List.of(10, 20, 4, 3, 64), List.of(output(8), output(12), output(16), output(20), output(24)));
        assertEquals(384 + 32 * 128, driverOutput(8)); // 20 RECVs of 40 + 3 * 16 bytes
        assertEquals(384 + 16 * 512, driverOutput(24)); // 10 SENDs of 208 + 64 bytes
    }

    @Test
    void shouldTellWhatAQueuePairWasTold() {
        int pair = pair(4, domain(), completions());
        assertEquals(DONE, modify(pair, 0x71, 1));
        assertEquals(DONE, modify(pair, 1, 2));
        assertEquals(DONE, command(25, 128, 0, 0, pair, 0));
        assertEquals(2, kernel.memory().get(ValueLayout.JAVA_BYTE, OUTPUT + 108));
        assertEquals(1, kernel.memory().get(ValueLayout.JAVA_BYTE, OUTPUT + 122));
        assertEquals(31, output(68)); // RECVs that the ring has room for
    }

    @Test
    void shouldRefuseStatesThatLinuxRefuses() {
        int pair = pair(2, domain(), completions());
        assertEquals(ErrorNumber.EINVAL, modify(pair, 1, 2)); // not from RESET
        assertEquals(ErrorNumber.EINVAL, modify(pair, 0x31, 1)); // without rights
        assertEquals(DONE, modify(pair, 0x39, 1));
        assertEquals(ErrorNumber.EINVAL, modify(pair, 0x12_9181, 2)); // without a GID
        assertEquals(DONE, modify(pair, 1, 6));
        assertEquals(ErrorNumber.EINVAL, modify(pair, 0x39, 1));
        assertEquals(DONE, modify(pair, 1, 0));
    }

    @Test
    void shouldRefuseLimitsThatRxeRefuses() {
        int domain = domain();
        int completions = completions();
        int[][] wrong = {{0x4001, 1, 1, 1, 0}, {1, -1, 1, 1, 0}, {1, 1, 33, 1, 0}, {1, 1, 1, 33, 0}, {1, 1, 1, 1, 513}};
        for (int[] caps : wrong) {
            assertEquals(
                    ErrorNumber.EINVAL,
                    command(
                            24,
                            32,
                            0,
                            0,
                            0,
                            0,
                            domain,
                            completions,
                            completions,
                            0,
                            caps[0],
                            caps[1],
                            caps[2],
                            caps[3],
                            caps[4],
                            2 << 8,
                            0,
                            0),
                    () -> HexFormat.of().toHexDigits(caps[0]));
        }
        assertEquals(
                ErrorNumber.EOPNOTSUPP,
                command(24, 32, 0, 0, 0, 0, domain, completions, completions, 0, 1, 1, 1, 1, 0, 9 << 8, 0, 0));
        assertEquals(ErrorNumber.EINVAL, command(18, 8, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0));
        assertEquals(ErrorNumber.EINVAL, command(18, 8, 0, 0, 0, 0, 0x8000, 0, -1, 0, 0, 0));
    }

    @Test
    void shouldRefuseHandlesOfOtherKinds() {
        int domain = domain();
        assertEquals(ErrorNumber.EINVAL, command(20, 8, 0, 0, domain));
        assertEquals(ErrorNumber.EINVAL, command(9, 12, 0, 0, 0, 0, 64, 0, 0, 0, completions(), 1));
    }
}
