package org.softrdma.sanitiser.finding;

import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionOpcode;

/**
 * A work request.
 *
 * @param opcode what it is; null where that cannot be known, as of a failed completion
 * @param wrId its number
 * @param postedAt the line that posted it; null if it is not known
 */
public record RequestName(
        @Nullable CompletionOpcode opcode,
        long wrId,
        @Nullable StackTraceElement postedAt) {
    /** For people. */
    @Override
    public String toString() {
        String kind = opcode == null ? "request" : opcode.isReceive() ? "RECV" : opcode.name();
        return kind + " with wrId " + wrId + (postedAt == null ? "" : ", posted at " + postedAt);
    }
}
