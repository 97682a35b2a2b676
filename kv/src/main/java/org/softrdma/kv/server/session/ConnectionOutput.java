package org.softrdma.kv.server.session;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.PinnedItem;
import org.softrdma.kv.store.StoredItem;

/**
 * One connection's answers on their way to the network. Short ones are copied into buffers. A long value is sent from
 * where it is in the store and stays pinned until then, so a client that does not read causes no copy of it. While
 * the network takes nothing, further answers gather in one buffer. What all connections hold is bounded
 * ({@link OutputBudget}). Owned by the thread of the connection.
 */
final class ConnectionOutput {
    private static final int BUFFER_LENGTH = 64 * 1024;

    /** The length of a buffer while memory is short. */
    private static final int SHORT_BUFFER_LENGTH = 4 * 1024;

    /** The length of a buffer for what is around a value that is not copied. */
    private static final int LINE_BUFFER_LENGTH = 512;

    /** A longer value is not copied. */
    private static final int LONGEST_COPY = 16 * 1024;

    /**
     * Bytes that may be written before the shared budget is told: what is sent at once costs no access to shared
     * memory.
     */
    private static final int ACCOUNTED_AT_ONCE = 256 * 1024;

    private final ItemStore store;
    private final ServerCounters counters;
    private final OutputBudget budget;
    private final ClientChannel channel;
    private final Runnable drained;
    private @Nullable ByteBuffer filling;

    /** Where the buffer that is being filled starts. */
    private int start;

    /** The socket did not take all; {@link #drained} goes on. */
    private boolean draining;

    private final HandedBuffers handed = new HandedBuffers();

    /** What this connection has taken of the budget. */
    private long held;

    /** Bytes of buffers that were handed to the channel since, and will mostly be sent at once. */
    private long unaccounted;

    private boolean released;

    /**
     * No answers yet.
     *
     * @param drained called when everything is sent that the network did not take at first
     */
    ConnectionOutput(KvService service, ClientChannel channel, Runnable drained) {
        this.store = service.store();
        this.counters = service.counters();
        this.budget = service.outputBudget();
        this.channel = channel;
        this.drained = drained;
    }

    /** True if another answer may be written. */
    boolean hasRoom() {
        if (isOpen()) {
            return true;
        }
        flush();
        return isOpen();
    }

    /** True if answers wait to be sent. */
    boolean isPending() {
        return filling != null || !channel.isSent();
    }

    private boolean isOpen() {
        return channel.isWritable() && (held == 0 || !budget.isShort());
    }

    void write(byte[] bytes, int length) {
        for (int from = 0; from < length; ) {
            int piece = Math.min(length - from, BUFFER_LENGTH);
            buffer(piece).put(bytes, from, piece);
            from += piece;
        }
    }

    /** Writes a line or frame, behind it the value of an item, and its end. With the lock of the key held. */
    void write(byte[] line, int lineLength, StoredItem item, byte[] end) {
        int length = item.valueLength();
        if (length > LONGEST_COPY) {
            buffer(lineLength, LINE_BUFFER_LENGTH); // what may fail comes first: nobody would end the pin
        }
        PinnedItem pinned = length > LONGEST_COPY ? store.pin(item) : PinnedItem.NONE;
        if (pinned.isPresent()) {
            write(line, lineLength);
            writePinned(pinned, item.memory().asSlice(item.valueOffset(), length));
            buffer(end.length, LINE_BUFFER_LENGTH).put(end);
            return;
        }
        ByteBuffer out = buffer(lineLength + length + end.length);
        out.put(line, 0, lineLength);
        item.copyValue(out);
        out.put(end);
    }

    private void writePinned(PinnedItem pinned, MemorySegment value) {
        send();
        long length = value.byteSize();
        counters.bytesWritten.add(length);
        handed.add(length, 0);
        channel.send(value.asByteBuffer(), () -> store.unpin(pinned));
    }

    private ByteBuffer buffer(int length) {
        return buffer(length, budget.isShort() ? SHORT_BUFFER_LENGTH : BUFFER_LENGTH);
    }

    /**
     * The buffer that is being filled, with room for some bytes.
     *
     * @param length how many
     * @param usual length of a new buffer, unless they are more
     */
    private ByteBuffer buffer(int length, int usual) {
        ByteBuffer out = filling;
        if (out != null && out.remaining() < length) {
            send();
            out = null;
        }
        if (out == null) {
            out = channel.buffer(Math.max(length, usual));
            start = out.position();
            filling = out;
        }
        return out;
    }

    /** Hands the buffer to the channel, which sends it with the next flush. */
    private void send() {
        ByteBuffer out = filling;
        if (out != null) {
            filling = null;
            counters.bytesWritten.add(out.position() - start);
            handed.add(out.position() - start, out.limit() - start);
            unaccounted += out.limit() - start;
            if (unaccounted >= ACCOUNTED_AT_ONCE || budget.isShort()) {
                hold(held + unaccounted);
                unaccounted = 0;
            }
            channel.sendBuffer();
        }
    }

    /** Sends what the socket takes. A buffer that is not full waits until it has taken those before. */
    void flush() {
        if (!draining) { // else it is filled further
            send();
        }
        if (budget.isShort()) { // what waits for the end of a turn is not accounted for
            channel.flushNow();
        } else {
            channel.flush();
        }
        unaccounted = 0;
        long taken = handed.capacityOf(Math.max(0, channel.pendingBytes()));
        if (channel.isSent()) { // or goes with this turn, and is accounted for if it did not
            hold(0);
            return;
        }
        hold(taken + 1);
        if (!draining) {
            draining = true;
            channel.whenSent(() -> {
                draining = false;
                if (!released) {
                    drained.run();
                }
            });
        }
    }

    /** Sends everything, then closes the channel. */
    void closeAfterwards() {
        buffer(0);
        send();
        channel.flush();
        channel.whenSent(channel::close);
    }

    /** Gives back what it holds. */
    void release() {
        released = true;
        if (filling != null) {
            filling = null;
            channel.dropBuffer();
        }
        hold(0);
    }

    private void hold(long bytes) {
        if (bytes != held) {
            budget.add(released ? -held : bytes - held);
            held = released ? 0 : bytes;
        }
    }
}
