package org.softrdma.kv.binary;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.turns.Turns;

/**
 * Cuts the bytes of one connection into frames, wherever the network cut them: the binary counterpart of the text
 * protocol's decoder, and a pull parser like it. Keeps a header, the extras and the key, never more; a value goes
 * where {@link #expectValue} says, without a stop in between, or is skipped however long it is.
 */
public final class BinaryDecoder {
    /** What {@link #next} found. */
    public enum Event {
        /** All bytes are used up. */
        NEED_INPUT,
        /** A request up to its value: {@link #request()}. */
        REQUEST,
        /** The end of the value behind the last request, of an operation that has one. */
        VALUE,
        /** Bytes that are no request; close the connection, as memcached does. */
        NO_FRAME
    }

    private enum Part {
        HEADER,
        EXTRAS,
        KEY,
        /** The value is taken or skipped. */
        VALUE,
        /** The body of an unknown operation is skipped, and nobody is told. */
        REST
    }

    private final Turns turns;
    private final BinaryRequest request = new BinaryRequest();
    private Part part = Part.HEADER;

    /** Bytes of the part that are there. */
    private int gathered;

    private @Nullable MemorySegment valueTarget;
    private long valueAt;
    private long valueLeft;

    /**
     * A decoder at the start of a connection.
     *
     * @param turns of those who may READ a value while it comes
     */
    public BinaryDecoder(Turns turns) {
        this.turns = turns;
    }

    /** The request of the last {@link Event#REQUEST}. */
    public BinaryRequest request() {
        return request;
    }

    /**
     * Says where the value behind the last request goes; to be called before the next {@link #next}, or it is skipped,
     * as is whatever follows a request that has no value.
     *
     * @param target takes the value, or null to skip it
     * @param offset where it goes
     */
    public void expectValue(@Nullable MemorySegment target, long offset) {
        valueTarget = part == Part.VALUE ? target : null;
        valueAt = offset;
    }

    /** True if some of the next request has come, or the value of the last one has not all come. */
    public boolean isWithinRequest() {
        return part != Part.HEADER || gathered > 0;
    }

    /** True while a value has not all come. */
    public boolean expectsValue() {
        return part == Part.VALUE;
    }

    /**
     * Takes bytes up to the next event.
     *
     * @param input what came; its position moves
     */
    public Event next(ByteBuffer input) {
        while (true) {
            switch (part) {
                case HEADER -> {
                    boolean whole = gather(input, 0, FrameDescriptor.LENGTH);
                    if (noFrame()) {
                        return Event.NO_FRAME;
                    }
                    if (!whole) {
                        return Event.NEED_INPUT;
                    }
                    request.readHeader();
                    gathered = 0;
                    if (request.fault() != BinaryRequest.Fault.NONE) {
                        return Event.REQUEST; // the last: the connection ends
                    }
                    if (request.operation() == BinaryOperation.UNKNOWN) {
                        return endOfKey(Part.REST, request.extrasLength() + request.keyLength());
                    }
                    part = Part.EXTRAS;
                }
                case EXTRAS -> {
                    if (!gather(input, FrameDescriptor.LENGTH, request.extrasLength())) {
                        return Event.NEED_INPUT;
                    }
                    gathered = 0;
                    part = Part.KEY;
                }
                case KEY -> {
                    if (!gather(input, request.keyOffset(), request.keyLength())) {
                        return Event.NEED_INPUT;
                    }
                    return endOfKey(request.operation().hasValue() ? Part.VALUE : Part.HEADER, 0);
                }
                case VALUE -> {
                    if (!takeValue(input)) {
                        return Event.NEED_INPUT;
                    }
                    part = Part.HEADER;
                    return Event.VALUE;
                }
                case REST -> {
                    if (!takeValue(input)) {
                        return Event.NEED_INPUT;
                    }
                    part = Part.HEADER;
                }
            }
        }
    }

    private Event endOfKey(Part next, int unread) {
        part = next;
        gathered = 0;
        valueTarget = null;
        valueLeft = request.valueLength() + unread;
        return Event.REQUEST;
    }

    /** True if what came of a header begins with something else than a request does. */
    private boolean noFrame() {
        return gathered > 0 && FrameDescriptor.magic(request.bytes) != FrameDescriptor.REQUEST_MAGIC;
    }

    /** True once the part is whole. */
    private boolean gather(ByteBuffer input, int start, int length) {
        int taken = Math.min(length - gathered, input.remaining());
        input.get(request.bytes, start + gathered, taken);
        gathered += taken;
        return gathered == length;
    }

    private boolean takeValue(ByteBuffer input) {
        int length = (int) Math.min(valueLeft, input.remaining());
        if (valueTarget != null && length > 0) {
            turns.copy(MemorySegment.ofBuffer(input), 0, valueTarget, valueAt, length);
        }
        input.position(input.position() + length);
        valueAt += length;
        valueLeft -= length;
        if (valueLeft > 0) {
            return false;
        }
        valueTarget = null;
        return true;
    }
}
