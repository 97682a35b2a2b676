package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.cm.ConnectionRejectedException;

/** What a failure says in a log, and whose stack trace it has. */
class VerbsExceptionTest {
    @Test
    void shouldPrintItsCode() {
        assertEquals(
                "org.softrdma.verbs.VerbsException: BUSY: 2 memory regions still use it",
                new VerbsException(VerbsErrorCode.BUSY, "2 memory regions still use it").toString());
        assertEquals(
                "org.softrdma.verbs.cm.ConnectionRejectedException: REJECTED: by the peer",
                new ConnectionRejectedException("by the peer", new byte[0]).toString());
    }

    @Test
    void shouldHaveTheFramesOfTheCallerAndThoseOfTheEngineBehind() {
        VerbsException found = CompletableFuture.supplyAsync(Elsewhere::fail).join();
        assertTrue(framesOf(found).noneMatch(VerbsExceptionTest.class.getName()::equals), found::toString);

        VerbsException thrown = found.forCaller();

        assertTrue(framesOf(thrown).anyMatch(VerbsExceptionTest.class.getName()::equals), thrown::toString);
        assertSame(found, thrown.getCause());
        assertSame(found.code(), thrown.code());
        assertEquals(found.getMessage(), thrown.getMessage());
    }

    @Test
    void shouldKeepWhatThePeerSentWithARejection() {
        VerbsException found = new ConnectionRejectedException("by the peer", new byte[] {1, 2});

        ConnectionRejectedException thrown = assertInstanceOf(ConnectionRejectedException.class, found.forCaller());

        assertArrayEquals(new byte[] {1, 2}, thrown.privateData());
        assertSame(found, thrown.getCause());
    }

    /** The engine of the test. */
    private static final class Elsewhere {
        static VerbsException fail() {
            return new VerbsException(VerbsErrorCode.UNREACHABLE, "nobody listens");
        }
    }

    private static Stream<String> framesOf(Throwable failure) {
        return Arrays.stream(failure.getStackTrace()).map(StackTraceElement::getClassName);
    }
}
