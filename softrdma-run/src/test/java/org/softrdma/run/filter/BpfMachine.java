package org.softrdma.run.filter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Runs the instructions that our filters have, as the kernel does. */
final class BpfMachine {
    private final ByteBuffer program;

    BpfMachine(byte[] program) {
        this.program = ByteBuffer.wrap(program).order(ByteOrder.nativeOrder());
    }

    /** The action for a call. */
    int run(int architecture, int number, long... arguments) {
        ByteBuffer data = ByteBuffer.allocate(64).order(ByteOrder.nativeOrder());
        data.putInt(number).putInt(architecture).putLong(0);
        for (long argument : arguments) {
            data.putLong(argument);
        }
        int word = 0;
        for (int at = 0; ; at++) {
            int from = at * BpfAssembler.INSTRUCTION_LENGTH;
            int operand = program.getInt(from + 4);
            int ifTrue = program.get(from + 2) & 0xFF;
            int ifFalse = program.get(from + 3) & 0xFF;
            switch (program.getShort(from)) {
                case 0x20 -> word = data.getInt(operand);
                case 0x15 -> at += word == operand ? ifTrue : ifFalse;
                case 0x35 -> at += Integer.compareUnsigned(word, operand) >= 0 ? ifTrue : ifFalse;
                case 0x06 -> {
                    return operand;
                }
                default -> throw new AssertionError("instruction " + at);
            }
        }
    }
}
