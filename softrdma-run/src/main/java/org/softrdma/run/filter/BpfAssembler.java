package org.softrdma.run.filter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes classic BPF with names instead of distances. An instruction is {@code struct sock_filter}, in the machine's order:
 *
 * <pre>
 *    0  code                             2 bytes
 *    2  instructions to skip if true     1
 *    3  instructions to skip if false    1
 *    4  operand                          4
 *    8
 * </pre>
 */
final class BpfAssembler {
    /** Bytes of an instruction. */
    static final int INSTRUCTION_LENGTH = 8;

    private static final int LOAD_WORD = 0x20;
    private static final int JUMP_IF_EQUAL = 0x15;
    private static final int JUMP_IF_AT_LEAST = 0x35;
    private static final int RETURN = 0x06;
    private static final int LONGEST_JUMP = 255;
    private static final String NEXT = "";

    private final List<Instruction> instructions = new ArrayList<>();
    private final Map<String, Integer> places = new HashMap<>();

    private record Instruction(int code, String ifTrue, String ifFalse, int operand) {}

    /** Loads a word of {@code struct seccomp_data}. */
    BpfAssembler load(int offset) {
        return add(LOAD_WORD, NEXT, NEXT, offset);
    }

    /** Jumps if the word is equal. */
    BpfAssembler ifEqual(int operand, String place) {
        return add(JUMP_IF_EQUAL, place, NEXT, operand);
    }

    /** Jumps if the word is not equal. */
    BpfAssembler unlessEqual(int operand, String place) {
        return add(JUMP_IF_EQUAL, NEXT, place, operand);
    }

    /** Jumps if the word, unsigned, is as large or larger. */
    BpfAssembler ifAtLeast(int operand, String place) {
        return add(JUMP_IF_AT_LEAST, place, NEXT, operand);
    }

    /** Jumps if the word, unsigned, is smaller. */
    BpfAssembler ifBelow(int operand, String place) {
        return add(JUMP_IF_AT_LEAST, NEXT, place, operand);
    }

    /** Ends the program with an action. */
    BpfAssembler returns(int action) {
        return add(RETURN, NEXT, NEXT, action);
    }

    /** Names the instruction that comes next. */
    BpfAssembler place(String name) {
        places.put(name, instructions.size());
        return this;
    }

    private BpfAssembler add(int code, String ifTrue, String ifFalse, int operand) {
        instructions.add(new Instruction(code, ifTrue, ifFalse, operand));
        return this;
    }

    /** The program's bytes. */
    byte[] assemble() {
        ByteBuffer bytes =
                ByteBuffer.allocate(instructions.size() * INSTRUCTION_LENGTH).order(ByteOrder.nativeOrder());
        for (int at = 0; at < instructions.size(); at++) {
            Instruction each = instructions.get(at);
            bytes.putShort((short) each.code())
                    .put((byte) distance(at, each.ifTrue()))
                    .put((byte) distance(at, each.ifFalse()))
                    .putInt(each.operand());
        }
        return bytes.array();
    }

    private int distance(int from, String place) {
        if (place.equals(NEXT)) {
            return 0;
        }
        Integer target = places.get(place);
        if (target == null || target <= from || target - from - 1 > LONGEST_JUMP) {
            throw new IllegalStateException(
                    "jump from " + from + " to " + place + " at " + target + ": expected 1 to 256 instructions ahead");
        }
        return target - from - 1;
    }
}
