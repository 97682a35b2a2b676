package org.softrdma.sanitiser.finding;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rule was broken.
 *
 * @param rule which
 * @param what happened, in a sentence with the numbers
 * @param ends both queue pairs; null if it is about no connection, as a leak is
 * @param request the work request; null if it is about none
 * @param buffer the memory; null if it is about none
 * @param where the calls that led to it, innermost first, without those of the sanitiser; where an object was created,
 *     of a leak
 */
public record Finding(
        Rule rule,
        String what,
        @Nullable ConnectionEnds ends,
        @Nullable RequestName request,
        @Nullable BufferName buffer,
        List<StackTraceElement> where) {
    /** Copies the list. */
    public Finding {
        where = List.copyOf(where);
    }

    /** Everything, a line each, for people. */
    public String text() {
        StringBuilder text = new StringBuilder(rule.name()).append(": ").append(what);
        if (ends != null) {
            line(text, "queue pair", ends.local());
            line(text, "peer", ends.peer());
        }
        if (request != null) {
            line(text, "request", request);
        }
        if (buffer != null) {
            line(text, "buffer", buffer);
        }
        line(text, "rule", rule.sentence() + " [" + rule.source() + "]");
        line(text, "instead", rule.remedy());
        where.forEach(frame -> text.append("\n    at ").append(frame));
        return text.toString();
    }

    private static void line(StringBuilder text, String name, Object value) {
        text.append("\n  ").append(name).append(": ").append(value);
    }

    @Override
    public String toString() {
        return text();
    }
}
