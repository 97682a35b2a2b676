package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SendOpcodeTest {
    /** Every post asks for it, and a post allocates nothing, whatever the compiler can do away with. */
    @ParameterizedTest
    @EnumSource
    void shouldMakeNoObjectToNameItsFeature(SendOpcode opcode) {
        assertSame(opcode.feature(), opcode.feature());
        boolean always = opcode == SendOpcode.SEND || opcode == SendOpcode.WRITE || opcode == SendOpcode.READ;
        assertEquals(always, opcode.feature().equals(Optional.empty()));
    }
}
