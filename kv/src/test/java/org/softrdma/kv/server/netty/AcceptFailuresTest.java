package org.softrdma.kv.server.netty;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What reaches the end of a pipeline Netty logs with its stack trace; the embedded channel throws it. */
class AcceptFailuresTest {
    @Test
    void shouldKeepFailuresToAcceptFromNettysLogAndNothingElse() {
        EmbeddedChannel listening = new EmbeddedChannel();
        AcceptFailures.logged(listening);
        for (int i = 0; i < 3; i++) {
            listening.pipeline().fireExceptionCaught(new IOException("accept(..) failed: Too many open files"));
            listening.checkException();
        }
        listening.pipeline().fireExceptionCaught(new IllegalStateException("a fault"));
        assertThrows(IllegalStateException.class, listening::checkException);
    }
}
