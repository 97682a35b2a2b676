package org.softrdma.kv.binary;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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

    private final BinaryRequest request = new BinaryRequest();
    private Part part = Part.HEADER;

    /** Bytes of the part that are there. */
    private int gathered;

    private @Nullable Consumer<ByteBuffer> valueTaker;
    private long valueLeft;

    /** A decoder at the start of a connection. */
    public BinaryDecoder() {}

    /** The request of the last {@link Event#REQUEST}. */
    public BinaryRequest request() {
        return request;
    }

    /**
     * Says where the value behind the last request goes; to be called before the next {@link #next}, or it is skipped,
     * as is whatever follows a request that has no value.
     *
     * @param taker takes all bytes of each buffer that it gets, piece by piece as they come; null to skip them
     */
    public void expectValue(@Nullable Consumer<ByteBuffer> taker) {
        valueTaker = part == Part.VALUE ? taker : null;
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
                        return endOfKey(
                                Part.REST,
                                request.extrasLength() + request.key().length());
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
                    if (!gather(input, request.key().offset(), request.key().length())) {
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
        valueTaker = null;
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
        int end = input.position() + length;
        if (valueTaker != null && length > 0) {
            int limit = input.limit();
            input.limit(end);
            valueTaker.accept(input);
            input.limit(limit);
        }
        input.position(end);
        valueLeft -= length;
        if (valueLeft > 0) {
            return false;
        }
        valueTaker = null;
        return true;
    }
}
