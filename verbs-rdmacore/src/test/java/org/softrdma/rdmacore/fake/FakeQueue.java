package org.softrdma.rdmacore.fake;

import java.util.ArrayDeque;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.WorkRequestAbi;

/** An {@code ibv_cq}. Under the fake's lock. */
final class FakeQueue {
    /** A completion that waits to be polled. */
    record Entry(
            long wrId,
            int status,
            int opcode,
            int vendorError,
            int length,
            int queuePair,
            int flags,
            int immediate,
            int source) {
        Entry(long wrId, int status, int opcode, int vendorError, int length, int queuePair) {
            this(wrId, status, opcode, vendorError, length, queuePair, 0, 0, 0);
        }
    }

    static final int BYTES = 128;

    final long pointer;
    final @Nullable FakeChannel channel;
    private final FakeDescriptors descriptors;
    private int size;
    private final Runnable overrun;
    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private boolean armed;
    private boolean solicitedOnly;

    FakeQueue(
            long pointer,
            long context,
            int size,
            long cookie,
            @Nullable FakeChannel channel,
            FakeDescriptors descriptors,
            LongConsumer overrun) {
        this.pointer = pointer;
        this.size = size;
        this.overrun = () -> overrun.accept(pointer);
        this.channel = channel;
        this.descriptors = descriptors;
        CMemory.putLong(pointer + VerbsAbi.COMPLETION_QUEUE_CONTEXT, context);
        CMemory.putLong(pointer + VerbsAbi.COMPLETION_QUEUE_COOKIE, cookie);
        CMemory.putInt(pointer + VerbsAbi.COMPLETION_QUEUE_ENTRIES, size);
    }

    int size() {
        return size;
    }

    /** False if it holds more already. */
    boolean resize(int newSize) {
        if (entries.size() > newSize) {
            return false;
        }
        size = newSize;
        CMemory.putInt(pointer + VerbsAbi.COMPLETION_QUEUE_ENTRIES, size);
        return true;
    }

    void add(Entry entry, boolean solicited) {
        if (entries.size() == size) {
            overrun.run();
            return;
        }
        entries.addLast(entry);
        if (armed && channel != null && (!solicitedOnly || solicited || entry.status != 0)) {
            armed = false;
            raise(channel);
        }
    }

    void raise(FakeChannel to) {
        to.events.addLast(pointer);
        descriptors.change();
    }

    void arm(boolean onlySolicited) {
        armed = true;
        solicitedOnly = onlySolicited;
    }

    int poll(int max, long to) {
        int count = 0;
        while (count < max && !entries.isEmpty()) {
            Entry entry = entries.removeFirst();
            long at = to + count++ * WorkRequestAbi.COMPLETION_BYTES;
            CMemory.putLong(at + WorkRequestAbi.COMPLETION_WR_ID, entry.wrId);
            CMemory.putInt(at + WorkRequestAbi.COMPLETION_STATUS, entry.status);
            CMemory.putInt(at + WorkRequestAbi.COMPLETION_OPCODE, entry.opcode);
            CMemory.putInt(at + WorkRequestAbi.COMPLETION_VENDOR_ERROR, entry.vendorError);
            CMemory.putInt(at + WorkRequestAbi.COMPLETION_LENGTH, entry.length);
            CMemory.putInt(at + WorkRequestAbi.COMPLETION_QUEUE_PAIR, entry.queuePair);
            CMemory.putInt(at + WorkRequestAbi.COMPLETION_SOURCE, entry.source);
            CMemory.putInt(at + WorkRequestAbi.COMPLETION_FLAGS, entry.flags);
            CMemory.putInt(at + WorkRequestAbi.COMPLETION_IMMEDIATE, entry.immediate);
        }
        return count;
    }

    /** An {@code ibv_comp_channel}. */
    static final class FakeChannel {
        final long pointer = FakeMemory.allocate(16);
        final ArrayDeque<Long> events = new ArrayDeque<>();

        FakeChannel(FakeDescriptors descriptors) {
            CMemory.putInt(pointer + VerbsAbi.COMPLETION_CHANNEL_FD, descriptors.open(() -> !events.isEmpty()));
        }
    }
}
