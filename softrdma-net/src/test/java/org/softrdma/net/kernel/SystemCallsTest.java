package org.softrdma.net.kernel;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

/** What comes out of a call through a method handle. */
class SystemCallsTest {
    /** Or a loop would take it for the end of its ring. */
    @Test
    void shouldThrowAnErrorAsItIs() {
        Error cause = new OutOfMemoryError("injected");

        assertSame(cause, assertThrows(Error.class, () -> {
            throw SystemCalls.failed("read", cause);
        }));
    }

    @Test
    void shouldWrapWhatNoCallThrows() {
        Exception cause = new ReflectiveOperationException("injected");

        assertSame(cause, SystemCalls.failed("read", cause).getCause());
    }
}
