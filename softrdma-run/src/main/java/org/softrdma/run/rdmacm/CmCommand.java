package org.softrdma.run.rdmacm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;

/**
 * A command as a program writes it to rdma_cm: {@code struct rdma_ucm_cmd_hdr} and a structure of {@code rdma/rdma_user_cm.h}. Host byte
 * order.
 *
 * <pre>
 *    0  command                    4 bytes
 *    4  bytes of input             2
 *    6  room for the answer        2
 *    8  input
 * </pre>
 */
final class CmCommand {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final int LENGTH_OFFSET = Integer.BYTES;
    private static final int ROOM_OFFSET = LENGTH_OFFSET + Short.BYTES;
    private static final int HEADER_LENGTH = ROOM_OFFSET + Short.BYTES;
    /** Longer than any of them. */
    private static final int MOST = 512;

    private final ProgramKernel kernel;
    private final MemorySegment header;
    private final MemorySegment input;
    private final MemorySegment output;
    private int length;

    CmCommand(ProgramKernel kernel, Arena arena) {
        this.kernel = kernel;
        header = arena.allocate(HEADER_LENGTH, Long.BYTES);
        input = arena.allocate(MOST, Long.BYTES);
        output = arena.allocate(MOST, Long.BYTES);
    }

    /**
     * Reads what was written.
     *
     * @throws CallRefusedException if it is not whole
     */
    void read(Notification call) throws CallRefusedException {
        long written = call.argument(2);
        if (written < HEADER_LENGTH) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        copyIn(call.thread(), call.argument(1), header, HEADER_LENGTH);
        length = header.get(SHORT, LENGTH_OFFSET) & 0xFFFF;
        if (HEADER_LENGTH + length > written) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        input.fill((byte) 0);
        output.fill((byte) 0);
        copyIn(call.thread(), call.argument(1) + HEADER_LENGTH, input, Math.min(MOST, length));
    }

    private void copyIn(int thread, long from, MemorySegment to, long bytes) throws CallRefusedException {
        if (bytes > 0 && kernel.read(thread, from, to, bytes) != bytes) {
            throw new CallRefusedException(ErrorNumber.EFAULT);
        }
    }

    /** Its number. */
    int number() {
        return header.get(INT, 0);
    }

    /**
     * Refuses a command that is too short.
     *
     * @param inputLength bytes that it must have
     * @param answerLength bytes that it must have room for
     */
    void require(int inputLength, int answerLength) throws CallRefusedException {
        if (room() < answerLength) {
            throw new CallRefusedException(ErrorNumber.ENOSPC);
        }
        if (length < inputLength) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
    }

    /** Room for the answer. */
    int room() {
        return header.get(SHORT, ROOM_OFFSET) & 0xFFFF;
    }

    /** The input, and zeros behind it. */
    MemorySegment input() {
        return input;
    }

    /** The answer, zeros at first. */
    MemorySegment output() {
        return output;
    }

    /** An eight-bit field of the input. */
    int inputByte(int offset) {
        return input.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
    }

    /** A 16-bit field of the input. */
    int inputShort(int offset) {
        return input.get(SHORT, offset) & 0xFFFF;
    }

    /** A 32-bit field of the input. */
    int inputInt(int offset) {
        return input.get(INT, offset);
    }

    /** A 64-bit field of the input. */
    long inputLong(int offset) {
        return input.get(LONG, offset);
    }

    /**
     * Answers with one number.
     *
     * @param offset of the address for the answer in the input
     */
    void answer(Notification call, int offset, int number) throws CallRefusedException {
        output.set(INT, 0, number);
        answer(call, output, inputLong(offset), Integer.BYTES);
    }

    /**
     * Answers with the begin of the output, at the address with which the input begins.
     *
     * @param bytes of it, of which the program gets those that it has room for
     */
    void answerWhole(Notification call, int bytes) throws CallRefusedException {
        answer(call, output, inputLong(0), Math.min(bytes, room()));
    }

    private void answer(Notification call, MemorySegment from, long to, int bytes) throws CallRefusedException {
        if (kernel.waits(call.id()) && kernel.write(call.thread(), from, to, bytes) != bytes) {
            throw new CallRefusedException(ErrorNumber.EFAULT);
        }
        done(call);
    }

    /** Answers that it is done: all bytes were written. */
    void done(Notification call) {
        kernel.answer(call.id(), call.argument(2));
    }
}
