package org.softrdma.net.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.net.peer.ChildJvm;

class DescriptorTest {
    @Test
    void shouldCloseWithoutMemoryFromTheFirstCallOn() {
        ChildJvm.Outcome child = ChildJvm.run(List.of(), List.of("-Xmx64m", "-Xint"), CloseWithoutMemory.class);
        assertEquals(0, child.exitCode(), child::toString);
    }
}
