package org.softrdma.kv.memcached;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Cuts the bytes of one connection into command lines and values, wherever the network cut them. A pull parser: the owner
 * calls {@link #next} as long as it wants more and may stop at any point, so nothing piles up here while a client does not
 * read its answers. Keeps at most one line; a value goes where {@link #expectValue} says, without a stop in between.
 */
public final class TextDecoder {
    /** What {@link #next} found. */
    public enum Event {
        /** All bytes are used up. */
        NEED_INPUT,
        /** A command line: {@link #request()}. */
        REQUEST,
        /** The end of an expected value: {@link #isValueTerminated()}. */
        VALUE,
        /** A request of the binary protocol, which is not spoken here; close the connection. */
        BINARY,
        /** No end of line where there should be one long since; close the connection, as memcached does. */
        LINE_TOO_LONG
    }

    /** memcached's limit for a line that does not start with get or gets. */
    public static final int MAX_LINE_LENGTH = 2048;

    /** The limit for get and gets, where memcached has none: some two thousand of the longest keys. */
    public static final int MAX_GET_LINE_LENGTH = 512 * 1024;

    /** First byte of a binary request; no line of text begins with it. */
    private static final byte BINARY_MAGIC = (byte) 0x80;

    private static final int INITIAL_LINE_LENGTH = 512;
    private static final int TERMINATOR_LENGTH = 2;

    private final TextRequest request = new TextRequest();
    private byte[] line = new byte[INITIAL_LINE_LENGTH];
    private int lineLength;

    private @Nullable MemorySegment valueTarget;
    private long valueAt;
    private int valueLeft;
    private int terminatorLeft;
    private boolean terminated;

    /** A decoder at the start of a connection. */
    public TextDecoder() {}

    /** The request of the last {@link Event#REQUEST}. */
    public TextRequest request() {
        return request;
    }

    /**
     * Says where the value behind a set goes; to be called before the next {@link #next}.
     *
     * @param target takes the value, or null to skip it
     * @param offset where it goes
     * @param length bytes of the value
     */
    public void expectValue(@Nullable MemorySegment target, long offset, int length) {
        valueTarget = target;
        valueAt = offset;
        valueLeft = length;
        terminatorLeft = TERMINATOR_LENGTH;
        terminated = true;
    }

    /** True while the value that was expected has not all come. */
    public boolean expectsValue() {
        return terminatorLeft > 0;
    }

    /** True if the last value was followed by a line end. */
    public boolean isValueTerminated() {
        return terminated;
    }

    /**
     * Takes bytes up to the next event.
     *
     * @param input what came; its position moves
     */
    public Event next(ByteBuffer input) {
        return terminatorLeft > 0 ? nextValue(input) : nextLine(input);
    }

    private Event nextValue(ByteBuffer input) {
        int length = Math.min(valueLeft, input.remaining());
        if (valueTarget != null && length > 0) {
            MemorySegment.copy(MemorySegment.ofBuffer(input), 0, valueTarget, valueAt, length);
        }
        input.position(input.position() + length);
        valueAt += length;
        valueLeft -= length;
        while (valueLeft == 0 && terminatorLeft > 0 && input.hasRemaining()) {
            terminated &= input.get() == (terminatorLeft == TERMINATOR_LENGTH ? '\r' : '\n');
            terminatorLeft--;
        }
        if (terminatorLeft > 0) {
            return Event.NEED_INPUT;
        }
        valueTarget = null;
        return Event.VALUE;
    }

    private Event nextLine(ByteBuffer input) {
        int start = input.position();
        int end = input.limit();
        if (lineLength == 0 && start < end && input.get(start) == BINARY_MAGIC) {
            return Event.BINARY;
        }
        int newline = start;
        while (newline < end && input.get(newline) != '\n') {
            newline++;
        }
        int added = newline - start;
        if (newline == end) {
            if (lineLength + added > limit(input, start, added)) {
                return Event.LINE_TOO_LONG;
            }
            append(input, added);
            return Event.NEED_INPUT;
        }
        append(input, added);
        input.position(newline + 1);
        int length = lineLength;
        lineLength = 0;
        request.parse(line, length > 1 && line[length - 1] == '\r' ? length - 1 : length);
        if (line.length > MAX_LINE_LENGTH * 2) {
            line = new byte[INITIAL_LINE_LENGTH]; // the request keeps the long one until its next line
        }
        return Event.REQUEST;
    }

    private void append(ByteBuffer input, int added) {
        if (lineLength + added > line.length) {
            line = Arrays.copyOf(line, Math.max(2 * line.length, lineLength + added));
        }
        input.get(line, lineLength, added);
        lineLength += added;
    }

    /** The limit of a line without an end so far, judged by its first bytes. */
    private int limit(ByteBuffer input, int start, int added) {
        if (lineLength + added <= MAX_LINE_LENGTH) {
            return MAX_LINE_LENGTH;
        }
        int at = 0;
        while (at < 100 && byteAt(input, start, at) == ' ') {
            at++;
        }
        boolean isGet = byteAt(input, start, at) == 'g'
                && byteAt(input, start, at + 1) == 'e'
                && byteAt(input, start, at + 2) == 't'
                && (byteAt(input, start, at + 3) == ' '
                        || (byteAt(input, start, at + 3) == 's' && byteAt(input, start, at + 4) == ' '));
        return isGet ? MAX_GET_LINE_LENGTH : MAX_LINE_LENGTH;
    }

    private byte byteAt(ByteBuffer input, int start, int index) {
        return index < lineLength ? line[index] : input.get(start + index - lineLength);
    }
}
