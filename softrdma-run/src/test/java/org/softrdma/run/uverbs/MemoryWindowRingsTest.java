package org.softrdma.run.uverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.softrdma.run.uverbs.ScriptedProgram.DONE;
import static org.softrdma.run.uverbs.ScriptedProgram.SIGNALLED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/** Memory windows of a program that binds them by requests, as rdma-core's driver does for both types, and regions that change. */
@EnabledOnOs(OS.LINUX)
class MemoryWindowRingsTest {
    private static final int WRITE = 0;
    private static final int INVALIDATE = 7;
    private static final int BIND = 8;
    private static final int SEND_INVALIDATE = 9;
    private static final int SUCCESS = 0;
    private static final int OPERATION_ERROR = 2;
    private static final int BIND_ERROR = 6;
    private static final int REMOTE_ACCESS = 10;
    private static final int REMOTE_WRITE = 2;
    private static final int ZERO_BASED = 32;
    private static final int SHARED = 1;
    private static final int OWN = 2;
    private static final int NO_CHANNEL = -1;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private ScriptedProgram program;
    private ScriptedProgram.Completions completions;
    private ScriptedProgram.Pair from;
    private ScriptedProgram.Pair to;
    private int handle;
    private int key;

    @BeforeEach
    void open() throws CallRefusedException {
        program = new ScriptedProgram();
        completions = program.completions(100, NO_CHANNEL, 5);
        from = program.pair(2, completions, 7, 7);
        to = program.pair(2, completions, 7, 7);
        program.connect(from, to);
    }

    @AfterEach
    void close() {
        program.close();
    }

    private void allocate(int type) {
        handle = program.made(14, 8, 0, 0, program.domain, type);
        key = program.output(4);
    }

    /** As ibv_inc_rkey(3). */
    private static int next(int key) {
        return (key & ~0xFF) | ((key + 1) & 0xFF);
    }

    private void bind(ScriptedProgram.Pair by, int old, int wanted, long offset, long length, int access) {
        MemorySegment request = by.fill(1, BIND, SIGNALLED, 0, 0);
        request.set(LONG, 24, program.memory.address() + offset);
        request.set(LONG, 32, length);
        request.set(INT, 40, program.lkey);
        request.set(INT, 44, old);
        request.set(INT, 48, wanted);
        request.set(INT, 52, access);
        by.give();
        assertEquals(DONE, program.doorbell(by));
    }

    private void bound(ScriptedProgram.Pair by, long offset, long length, int access) {
        bind(by, key, next(key), offset, length, access);
        MemorySegment done = completions.next();
        assertEquals("0 5", done.get(INT, 8) + " " + done.get(INT, 12));
        key = next(key);
    }

    private void write(ScriptedProgram.Pair by, long address, int rkey) {
        MemorySegment request = by.fill(2, WRITE, SIGNALLED, 0, 10);
        request.set(LONG, 24, address);
        request.set(INT, 32, rkey);
        by.give();
        assertEquals(DONE, program.doorbell(by));
    }

    private long address(long offset) {
        return program.memory.address() + offset;
    }

    @Test
    void shouldGiveAPeerAccessByTheKeyThatWasChosen() {
        allocate(OWN);
        bound(to, 1000, 10, REMOTE_WRITE | 1);
        program.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 77);
        write(from, address(1000), key);
        completions.expect(2, SUCCESS);
        assertEquals(77, program.memory.get(ValueLayout.JAVA_BYTE, 1000));
        write(from, address(1001), key); // one byte too far
        completions.expect(2, REMOTE_ACCESS);
    }

    @Test
    void shouldRefuseTheKeyFromBefore() {
        allocate(OWN);
        int before = key;
        bound(to, 1000, 10, REMOTE_WRITE);
        write(from, address(1000), before);
        completions.expect(2, REMOTE_ACCESS);
    }

    @Test
    void shouldKeepAWindowForTheQueuePairThatHasBoundIt() {
        allocate(OWN);
        bound(from, 1000, 10, REMOTE_WRITE);
        write(from, address(1000), key);
        completions.expect(2, REMOTE_ACCESS);
    }

    @Test
    void shouldTakeAKeyBackHereAndThere() {
        allocate(OWN);
        bound(to, 1000, 10, REMOTE_WRITE);
        invalidate(to, INVALIDATE, key);
        completions.expect(3, SUCCESS);
        bound(to, 1000, 10, REMOTE_WRITE);
        to.receive(4, 20_000, 64);
        invalidate(from, SEND_INVALIDATE, key);
        MemorySegment received = completions.next();
        assertEquals(4, received.get(LONG, 0));
        assertEquals(8, received.get(INT, 36)); // with an invalidated key
        assertEquals(key, received.get(INT, 24));
        completions.expect(3, SUCCESS);
        write(from, address(1000), key);
        completions.expect(2, REMOTE_ACCESS);
    }

    private void invalidate(ScriptedProgram.Pair by, int operation, int which) {
        MemorySegment request = by.fill(3, operation, SIGNALLED, 0, 0);
        request.set(INT, 20, which);
        by.give();
        assertEquals(DONE, program.doorbell(by));
    }

    @Test
    void shouldFailToInvalidateWhatIsNoWindow() {
        invalidate(to, INVALIDATE, program.lkey);
        completions.expect(3, OPERATION_ERROR);
    }

    @Test
    void shouldFailBindsOfOtherKeysAndRights() {
        int[][] wrong = {{1, REMOTE_WRITE}, {0, 16}, {0, 64}};
        for (int[] each : wrong) {
            ScriptedProgram.Pair pair = program.pair(2, completions, 7, 7);
            program.connect(pair, program.pair(2, completions, 7, 7));
            allocate(OWN);
            bind(pair, key + each[0], next(key), 1000, 10, each[1]);
            completions.expect(1, BIND_ERROR);
        }
        allocate(OWN);
        bind(to, key, next(key), ScriptedProgram.LENGTH, 10, REMOTE_WRITE); // behind its end
        completions.expect(1, BIND_ERROR);
        bound(from, 1000, 10, REMOTE_WRITE); // with the key from before
        bind(from, key, next(key), 1000, 10, REMOTE_WRITE); // it is bound
        completions.expect(1, BIND_ERROR);
    }

    @Test
    void shouldBindSharedWindowsAgainAndAgain() {
        allocate(SHARED);
        bound(from, 1000, 10, REMOTE_WRITE);
        int before = key;
        bound(to, 2000, 10, REMOTE_WRITE);
        write(from, address(2000), key);
        completions.expect(2, SUCCESS);
        write(to, address(2000), key);
        completions.expect(2, SUCCESS);
        bound(to, 0, 0, 0);
        write(from, address(2000), key);
        completions.expect(2, REMOTE_ACCESS);
        assertEquals(next(before), key - 1);
    }

    @Test
    void shouldNameTheFirstByteOfAWindowZero() {
        allocate(OWN);
        program.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 78);
        bound(to, 1000, 10, REMOTE_WRITE | ZERO_BASED);
        write(from, 0, key);
        completions.expect(2, SUCCESS);
        assertEquals(78, program.memory.get(ValueLayout.JAVA_BYTE, 1000));
    }

    @Test
    void shouldKeepRegionsThatWindowsAreBoundTo() {
        assertEquals(ErrorNumber.EINVAL, program.command(14, 8, 0, 0, program.domain, 3));
        allocate(OWN);
        assertEquals(ErrorNumber.EBUSY, program.command(4, 0, program.domain));
        bound(to, 1000, 10, REMOTE_WRITE);
        assertEquals(ErrorNumber.EINVAL, program.command(13, 0, program.region));
        assertEquals(DONE, program.command(16, 0, handle));
        assertEquals(DONE, program.command(13, 0, program.region));
        assertEquals(ErrorNumber.EINVAL, program.command(16, 0, handle));
    }

    // ---- regions that change

    @Test
    void shouldGiveARegionOtherRights() {
        int[] input = new int[12];
        input[2] = program.region;
        input[3] = 4;
        input[11] = 1;
        assertEquals(DONE, program.command(11, 8, input));
        write(from, address(1000), program.output(4));
        completions.expect(2, 4); // of its own memory: it has another key now
    }

    @Test
    void shouldGiveARegionOtherMemory() {
        int[] input = new int[12];
        input[2] = program.region;
        input[3] = 1;
        long start = program.memory.address() + 4096;
        for (int i = 4; i < 10; i += 2) {
            long value = i == 6 ? 4096 : start;
            input[i] = ScriptedProgram.low(value);
            input[i + 1] = ScriptedProgram.high(value);
        }
        assertEquals(DONE, program.command(11, 8, input));
        int lkey = program.output(0);
        int rkey = program.output(4);
        MemorySegment request = from.fill(2, WRITE, SIGNALLED, 4096, 10);
        request.set(INT, 220, lkey);
        request.set(LONG, 24, start + 100);
        request.set(INT, 32, rkey);
        program.memory.set(ValueLayout.JAVA_BYTE, 4096, (byte) 79);
        from.give();
        assertEquals(DONE, program.doorbell(from));
        completions.expect(2, SUCCESS);
        assertEquals(79, program.memory.get(ValueLayout.JAVA_BYTE, 4096 + 100));
        input[3] = 0;
        assertEquals(ErrorNumber.EINVAL, program.command(11, 8, input));
        input[3] = 8;
        assertEquals(ErrorNumber.EINVAL, program.command(11, 8, input));
    }
}
