package org.softrdma.run.uverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;
import org.softrdma.run.rxe.RxeRing;

/**
 * A command in the form INVOKE_WRITE of the uverbs ioctl, {@code struct ib_uverbs_ioctl_hdr}; the program writes it.
 *
 * <pre>
 *    0  length                   2 bytes
 *    2  object                   2
 *    4  method                   2
 *    6  count of attributes      2
 *    8  reserved                 8
 *   16  driver                   4
 *   20  reserved                 4
 *   24  attributes              16 each: id, length, flags, index (2 each), value or address (8)
 * </pre>
 */
final class WriteCommand {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private static final int OBJECT_OFFSET = 2;
    private static final int METHOD_OFFSET = 4;
    private static final int COUNT_OFFSET = 6;
    private static final int ATTRIBUTES_OFFSET = 24;
    private static final int ATTRIBUTE_LENGTH = 16;
    private static final int VALUE_OFFSET = 8;
    private static final int MOST_ATTRIBUTES = 16;

    private static final int DEVICE_OBJECT = 0;
    private static final int INVOKE_WRITE_METHOD = 0;
    private static final int INPUT = 0;
    private static final int OUTPUT = 1;
    private static final int COMMAND = 2;
    private static final int DRIVER = 0x1000;
    private static final int EXTENDED = 0x8000_0000;
    /** Longer than the input of any command. */
    private static final int MOST_INPUT = 512;

    private static final int MOST_OUTPUT = 512;
    /** Of {@code struct mminfo}. */
    private static final int RING_LENGTH = 16;

    /** Bytes that only a command that is not extended has in front. */
    private static final int ANSWER_ADDRESS = 8;

    /** Where most of these have the handle that they are about. */
    static final int HANDLE_OFFSET = ANSWER_ADDRESS;

    private final ProgramKernel kernel;
    private final MemorySegment header;
    private final MemorySegment input;
    private final MemorySegment output;
    private final MemorySegment driverOutput;
    private Place given = Place.NONE;
    private Place answer = Place.NONE;
    private Place driverAnswer = Place.NONE;
    /** Up to 8 bytes are in the attribute itself. */
    private long driverInput;

    private int command;

    WriteCommand(ProgramKernel kernel, Arena arena) {
        this.kernel = kernel;
        header = arena.allocate(ATTRIBUTES_OFFSET + (long) MOST_ATTRIBUTES * ATTRIBUTE_LENGTH, Long.BYTES);
        input = arena.allocate(MOST_INPUT, Long.BYTES);
        output = arena.allocate(MOST_OUTPUT, Long.BYTES);
        driverOutput = arena.allocate(MOST_OUTPUT, Long.BYTES);
    }

    /** Where an attribute is in the program's memory. */
    private record Place(long address, int length) {
        static final Place NONE = new Place(0, 0);
    }

    /**
     * Reads a command.
     *
     * @throws CallRefusedException if it is another method, or is not whole
     */
    void read(Notification call) throws CallRefusedException {
        int thread = call.thread();
        long address = call.argument(2);
        copyIn(thread, address, header, ATTRIBUTES_OFFSET);
        int count = header.get(SHORT, COUNT_OFFSET) & 0xFFFF;
        if (header.get(SHORT, OBJECT_OFFSET) != DEVICE_OBJECT
                || header.get(SHORT, METHOD_OFFSET) != INVOKE_WRITE_METHOD
                || count > MOST_ATTRIBUTES) {
            throw new CallRefusedException(ErrorNumber.EPROTONOSUPPORT);
        }
        copyIn(thread, address + ATTRIBUTES_OFFSET, header.asSlice(ATTRIBUTES_OFFSET), (long) count * ATTRIBUTE_LENGTH);
        given = Place.NONE;
        answer = Place.NONE;
        driverAnswer = Place.NONE;
        driverInput = 0;
        command = -1;
        for (int i = 0; i < count; i++) {
            attribute(address, ATTRIBUTES_OFFSET + i * ATTRIBUTE_LENGTH);
        }
        input.fill((byte) 0);
        output.fill((byte) 0);
        driverOutput.fill((byte) 0);
        copyIn(thread, given.address(), input, given.length());
    }

    private void attribute(long address, int offset) throws CallRefusedException {
        int length = header.get(SHORT, offset + Short.BYTES) & 0xFFFF;
        long value = header.get(LONG, offset + VALUE_OFFSET);
        switch (header.get(SHORT, offset) & 0xFFFF) {
            case INPUT -> {
                if (length > MOST_INPUT) {
                    throw new CallRefusedException(ErrorNumber.EINVAL);
                }
                // Up to 8 bytes are where the address would be.
                given = new Place(length <= Long.BYTES ? address + offset + VALUE_OFFSET : value, length);
            }
            case OUTPUT -> answer = new Place(value, length);
            case COMMAND -> command = (int) value;
            case DRIVER + INPUT -> driverInput = length == Long.BYTES ? value : 0;
            case DRIVER + OUTPUT -> driverAnswer = new Place(value, length);
            default -> {}
        }
    }

    private void copyIn(int thread, long from, MemorySegment to, long length) throws CallRefusedException {
        if (length > 0 && kernel.read(thread, from, to, length) != length) {
            throw new CallRefusedException(ErrorNumber.EFAULT);
        }
    }

    /** The number of the command, without what says that it is extended. */
    int number() {
        return command & ~EXTENDED;
    }

    /** Whether it is the extended form, whose structures are others. */
    boolean extended() {
        return (command & EXTENDED) != 0;
    }

    /** Room for the answer in the program's memory. */
    int room() {
        return answer.length();
    }

    /** The input, and zeros behind it. */
    MemorySegment input() {
        return input;
    }

    /** What only the driver of SoftRoCE reads, zeros at first. */
    MemorySegment driverOutput() {
        return driverOutput;
    }

    /** The answer, zeros at first. */
    MemorySegment output() {
        return output;
    }

    /** An eight-bit field of the input. */
    int inputByte(int offset) {
        return input.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
    }

    /** A 32-bit field of the input. */
    int inputInt(int offset) {
        return input.get(INT, offset);
    }

    /** A 64-bit field of the input. */
    long inputLong(int offset) {
        return input.get(LONG, offset);
    }

    /** Sets a 32-bit field of the answer. */
    void set(int offset, int value) {
        output.set(INT, offset, value);
    }

    /**
     * Answers with the begin of the outputs, as much as the program has room for.
     *
     * @param length bytes of the answer
     */
    void answer(Notification call, int length) throws CallRefusedException {
        if (kernel.waits(call.id())) {
            copyOut(call.thread(), output, answer.address(), Math.min(length, answer.length()));
            copyOut(call.thread(), driverOutput, driverAnswer.address(), Math.min(MOST_OUTPUT, driverAnswer.length()));
        }
        kernel.answer(call.id(), 0);
    }

    /** What the driver of SoftRoCE says beside the input, if it is 8 bytes; else 0. */
    long driverInputLong() {
        return driverInput;
    }

    /** Writes where a ring is to a place that the driver has named. */
    void writeDriverOutput(Notification call, long address) throws CallRefusedException {
        copyOut(call.thread(), driverOutput, address, RING_LENGTH);
    }

    /** Where the input begins that both forms of a command have. */
    int inputOffset() {
        return extended() ? 0 : ANSWER_ADDRESS;
    }

    /**
     * Answers either form; an extended answer is longer: what it has, and its length.
     *
     * @param length bytes of the shorter one
     */
    void answerEither(Notification call, int length) throws CallRefusedException {
        if (!extended()) {
            answer(call, length);
            return;
        }
        int whole = length + 2 * Integer.BYTES;
        set(length + Integer.BYTES, whole);
        answer(call, whole);
    }

    /** Tells the driver where a ring is, {@code struct mminfo}: offset (8), length (4), nothing (4). */
    void tell(int offset, RxeRing ring) {
        driverOutput.set(LONG, offset, ring.offset());
        driverOutput.set(INT, offset + (long) Long.BYTES, (int) ring.bytes().byteSize());
    }

    private void copyOut(int thread, MemorySegment from, long to, int length) throws CallRefusedException {
        if (length > 0 && kernel.write(thread, from, to, length) != length) {
            throw new CallRefusedException(ErrorNumber.EFAULT);
        }
    }
}
