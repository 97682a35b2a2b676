package org.softrdma.fabric.network;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.wire.MessageKind;

/**
 * Counts the messages that are sent in one direction, and finds the requests that they were posted for. The running thread.
 */
final class SentMessages {
    private final MessageScanner scanner = new MessageScanner();
    private final int[] counts = new int[MessageKind.values().length];
    private long requests;
    /** The last message was a WRITE: an immediate behind it belongs to the same request. */
    private boolean behindWrite;

    /** True behind the first frame of the handshake. */
    boolean isStreaming() {
        return scanner.isStreaming();
    }

    /** Looks at the next bytes up to a message that begins; returns how many. */
    int scan(long address, int length) {
        return scanner.scan(address, length);
    }

    /** The message that began with the last bytes, if one did. Once for each. */
    Inspector.@Nullable Message begun(@Nullable FabricSocket sender) {
        MessageKind kind = scanner.begun();
        if (kind == null) {
            return null;
        }
        OptionalLong wrId = OptionalLong.empty();
        if (kind.isRequest()) {
            // They go in the order in which they were posted, each once (RFC 5040 section 5.5).
            requests += kind == MessageKind.IMMEDIATE && behindWrite ? 0 : 1;
            wrId = sender == null ? wrId : sender.wrId(requests - 1);
        }
        behindWrite = kind == MessageKind.WRITE;
        return new Inspector.Message(kind, ++counts[kind.ordinal()], wrId);
    }
}
