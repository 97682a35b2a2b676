package org.softrdma.run.uverbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.run.uverbs.ScriptedProgram.DONE;
import static org.softrdma.run.uverbs.ScriptedProgram.INLINE;
import static org.softrdma.run.uverbs.ScriptedProgram.SEND;
import static org.softrdma.run.uverbs.ScriptedProgram.SIGNALLED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/** Queue pairs of datagrams, and address handles, of a program that fills rings as rdma-core's driver does. */
@EnabledOnOs(OS.LINUX)
class DatagramRingsTest {
    private static final int WRITE = 0;
    private static final int SEND_IMMEDIATE = 3;
    private static final int SUCCESS = 0;
    private static final int OPERATION_ERROR = 2;
    private static final int FLUSHED = 5;
    private static final int NO_CHANNEL = -1;
    private static final int HEADER = 40;
    private static final int KEY = 17;
    /** Second half of the GID of 239.255.x.y: another group for each process, since all that have joined one hear it. */
    private static final long GROUP =
            Long.reverseBytes(0xFFFF_EFFF_0000L | (ProcessHandle.current().pid() & 0xFFFF));

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private ScriptedProgram program;
    private ScriptedProgram.Completions completions;
    private ScriptedProgram.Pair from;
    private ScriptedProgram.Pair to;
    private int handle;

    @BeforeEach
    void open() throws CallRefusedException {
        program = new ScriptedProgram();
        completions = program.completions(100, NO_CHANNEL, 5);
        from = program.pair(4, completions, 7, 7);
        to = program.pair(4, completions, 7, 7);
        program.connect(from, to);
        handle = program.address(0, true, 1);
        assertTrue(handle > 0);
        for (int i = 0; i < 5000; i++) {
            program.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
        }
    }

    @AfterEach
    void close() {
        program.close();
    }

    private void send(long wrId, int operation, int flags, int length, int key, int by) {
        var _ = from.to(from.fill(wrId, operation, flags, 100, length), to, key, by);
        from.give();
        assertEquals(DONE, program.doorbell(from));
    }

    private void expectSent() {
        to.receive(11, 20_000, 3000);
        send(22, SEND, SIGNALLED, 1000, KEY, handle);
        completions.expect(22, SUCCESS);
        MemorySegment received = completions.next();
        assertEquals(11, received.get(ValueLayout.JAVA_LONG, 0));
        assertEquals(1000 + HEADER, received.get(INT, 20));
        assertEquals(from.number, received.get(INT, 32));
        assertEquals(1, received.get(INT, 36)); // a routing header
        assertEquals(
                -1, program.memory.asSlice(100, 1000).mismatch(program.memory.asSlice(20_000 + HEADER, 1000)), "bytes");
    }

    @Test
    void shouldSendToWhomTheHandleLeadsTo() {
        expectSent();
        String header =
                HexFormat.of().formatHex(program.memory.asSlice(20_000, HEADER).toArray(ValueLayout.JAVA_BYTE));
        assertEquals("00".repeat(20) + "4500", header.substring(0, 44));
        assertEquals("7f0000017f000001", header.substring(64));
    }

    @Test
    void shouldHandOverImmediatesAndInlineBytes() {
        to.receive(1, 20_000, 3000);
        MemorySegment request = from.to(from.fill(2, SEND_IMMEDIATE, SIGNALLED | INLINE, 77, 60), to, KEY, handle);
        from.immediate(request, 0x2122_2324);
        from.give();
        assertEquals(DONE, program.doorbell(from));
        completions.expect(2, SUCCESS);
        MemorySegment received = completions.next();
        assertEquals(3, received.get(INT, 36));
        assertEquals(0x2423_2221, received.get(INT, 24));
        assertEquals(-1, program.memory.asSlice(77, 60).mismatch(program.memory.asSlice(20_000 + HEADER, 60)));
    }

    /** The highest bit of a key stands for the sender's own (IBTA 10.2.5). */
    @Test
    void shouldTakeDatagramsWithTheKeyOnly() {
        to.receive(1, 20_000, 3000);
        send(2, SEND, SIGNALLED, 10, KEY + 1, handle);
        completions.expect(2, SUCCESS);
        send(3, SEND, SIGNALLED, 10, Integer.MIN_VALUE, handle);
        completions.expect(3, SUCCESS);
        completions.expect(1, SUCCESS);
        assertEquals(1, to.receives.consumer());
    }

    @Test
    void shouldTakeDatagramsWithANewKey() {
        assertEquals(DONE, program.modify(to, 0x40, 3, 0, 0, KEY + 1));
        to.receive(1, 20_000, 3000);
        send(2, SEND, SIGNALLED, 10, KEY + 1, handle);
        completions.expect(2, SUCCESS);
        completions.expect(1, SUCCESS);
    }

    /** Drivers before rdma-core 38 know no numbers of handles. */
    @Test
    void shouldSendByAHandleThatTheRequestHasItself() {
        to.receive(1, 20_000, 3000);
        for (int i = 2; i < 4; i++) {
            MemorySegment request = from.to(from.fill(i, SEND, SIGNALLED, 100, 10), to, KEY, 0);
            request.set(ValueLayout.JAVA_LONG, 72, ScriptedProgram.LOOPBACK);
            request.set(ValueLayout.JAVA_BYTE, 84, (byte) (3 - i)); // one that is not there, then the first one
            from.give();
        }
        assertEquals(DONE, program.doorbell(from));
        completions.expect(2, OPERATION_ERROR);
        completions.expect(3, FLUSHED);
        assertEquals(5, program.state(from)); // SQE
        assertEquals(DONE, program.modify(from, 1, 3, 0, 0));
        MemorySegment request = from.to(from.fill(4, SEND, SIGNALLED, 100, 10), to, KEY, 0);
        request.set(ValueLayout.JAVA_LONG, 72, ScriptedProgram.LOOPBACK);
        from.give();
        assertEquals(DONE, program.doorbell(from));
        completions.expect(4, SUCCESS);
        completions.expect(1, SUCCESS);
    }

    @Test
    void shouldFailDatagramsWithoutAHandle() {
        assertEquals(DONE, program.command(8, 0, handle));
        send(1, SEND, 0, 10, KEY, handle);
        completions.expect(1, OPERATION_ERROR);
        assertEquals(ErrorNumber.EINVAL, program.command(8, 0, handle));
    }

    @Test
    void shouldFailWhatIsNoDatagram() {
        send(1, WRITE, 0, 10, KEY, handle);
        completions.expect(1, OPERATION_ERROR);
    }

    @Test
    void shouldRefuseHandlesThatLeadNowhere() {
        assertEquals(-1, program.address(1, true, 1)); // no such GID
        assertEquals(-1, program.address(0, false, 1)); // no GID at all
        assertEquals(-1, program.address(0, true, 2));
        assertEquals(ErrorNumber.EBUSY, program.command(4, 0, program.domain));
    }

    @Test
    void shouldTakeNothingBeforeItIsToReceiveAndSendNothingBeforeItIsToSend() {
        ScriptedProgram.Pair late = program.pair(4, completions, 7, 7);
        assertEquals(DONE, program.initialise(late));
        assertEquals(1, program.state(late));
        late.receive(1, 20_000, 3000);
        var _ = from.to(from.fill(2, SEND, SIGNALLED, 100, 10), late, KEY, handle);
        from.give();
        assertEquals(DONE, program.doorbell(from));
        completions.expect(2, SUCCESS);
        assertEquals(DONE, program.toReceive(late, 0));
        assertEquals(2, program.state(late));
        assertEquals(ErrorNumber.EINVAL, program.doorbell(late));
        assertEquals(0, late.receives.consumer());
        assertEquals(DONE, program.toSend(late));
        assertEquals(3, program.state(late));
        assertEquals(DONE, program.modify(late, 1, 6, 0, 0));
        completions.expect(1, FLUSHED);
    }

    @Test
    void shouldSendToAllOfAGroup() {
        assertEquals(DONE, program.group(30, from, GROUP));
        assertEquals(DONE, program.group(30, to, GROUP));
        assertEquals(DONE, program.group(30, to, GROUP)); // once more is as good
        from.receive(11, 20_000, 3000);
        to.receive(12, 30_000, 3000);
        sendToGroup(22);
        long[] seen = new long[3];
        for (int i = 0; i < seen.length; i++) {
            MemorySegment next = completions.next();
            assertEquals(SUCCESS, next.get(INT, 8));
            seen[i] = next.get(ValueLayout.JAVA_LONG, 0);
        }
        Arrays.sort(seen);
        assertArrayEquals(new long[] {11, 12, 22}, seen);
        for (int at : new int[] {20_000, 30_000}) {
            assertEquals(
                    -1, program.memory.asSlice(100, 1000).mismatch(program.memory.asSlice(at + HEADER, 1000)), "bytes");
        }
        assertEquals(DONE, program.group(31, to, GROUP));
        from.receive(13, 20_000, 3000);
        to.receive(14, 30_000, 3000);
        sendToGroup(23);
        completions.expect(23, SUCCESS);
        completions.expect(13, SUCCESS);
        assertEquals(1, to.receives.consumer());
    }

    private void sendToGroup(long wrId) {
        int group = program.address(0, true, 1, GROUP);
        MemorySegment request = from.to(from.fill(wrId, SEND, SIGNALLED, 100, 1000), to, KEY, group);
        request.set(INT, 24, 0xFF_FFFF);
        from.give();
        assertEquals(DONE, program.doorbell(from));
    }

    @Test
    void shouldRefuseGroupsAsLinuxDoes() throws CallRefusedException {
        assertEquals(ErrorNumber.EINVAL, program.group(30, to, ScriptedProgram.LOOPBACK));
        assertEquals(ErrorNumber.EINVAL, program.group(31, to, GROUP));
        ScriptedProgram.Pair connected = program.pair(2, completions, 7, 7);
        assertEquals(ErrorNumber.EINVAL, program.group(30, connected, GROUP));
        assertEquals(DONE, program.group(30, to, GROUP));
        assertEquals(ErrorNumber.EBUSY, program.command(27, 4, 0, 0, to.handle, 0));
        assertEquals(DONE, program.group(31, to, GROUP));
        assertEquals(DONE, program.command(27, 4, 0, 0, to.handle, 0));
    }

    @Test
    void shouldBeginAgainAfterAReset() {
        assertEquals(DONE, program.modify(to, 1, 0, 0, 0));
        assertEquals(0, program.state(to));
        program.connect(from(0), to);
        expectSent();
    }

    /** From its beginning again. */
    private ScriptedProgram.Pair from(int state) {
        assertEquals(DONE, program.modify(from, 1, state, 0, 0));
        return from;
    }
}
