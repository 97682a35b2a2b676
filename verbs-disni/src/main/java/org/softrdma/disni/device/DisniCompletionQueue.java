package org.softrdma.disni.device;

import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.device.IbvCompletionQueue;
import org.softrdma.ibverbs.device.OpenDevice;

/**
 * An {@code ibv_cq} with an {@code ibv_comp_channel} of its own. Native completions are polled by one prepared call per
 * size; for a failed one DiSNI sets only number and status, and the rest is left from an earlier completion.
 */
final class DisniCompletionQueue extends IbvCompletionQueue {
    /** Sizes are 1, 2, 4 ... */
    private static final int SIZES = Integer.numberOfTrailingZeros(LARGEST_BATCH) + 1;

    private final DisniLibrary.Queue handle;
    private final @Nullable EventPump pump;

    // Under the lock.
    private final DisniLibrary.@Nullable PreparedPoll[] polls = new DisniLibrary.PreparedPoll[SIZES];
    private DisniLibrary.@Nullable PreparedPoll batch;

    /**
     * Wraps a queue that was just created.
     *
     * @param device its device, which counts it already
     * @param handle native queue
     * @param entries requested number of entries
     * @param channel gets its events and counts it already; or null
     */
    DisniCompletionQueue(
            OpenDevice device, DisniLibrary.Queue handle, int entries, @Nullable DisniCompletionChannel channel) {
        super(device, entries, channel);
        this.handle = handle;
        pump = channel == null ? null : new EventPump(handle, channel, arming());
    }

    DisniLibrary.Queue handle() {
        return handle;
    }

    @Override
    protected int batchSize(int room) {
        return Integer.highestOneBit(super.batchSize(room));
    }

    @Override
    protected int pollNatively(int size) {
        int index = Integer.numberOfTrailingZeros(size);
        try {
            DisniLibrary.PreparedPoll call = polls[index];
            if (call == null) {
                call = handle.preparePoll(size);
                polls[index] = call;
            }
            batch = call;
            return call.execute();
        } catch (IOException e) {
            throw DisniErrors.failed(e, "the completion queue cannot be polled");
        }
    }

    private DisniLibrary.PreparedPoll polled() {
        return Objects.requireNonNull(batch, "nothing polled yet");
    }

    @Override
    protected long wrId(int index) {
        return polled().wrId(index);
    }

    @Override
    protected int status(int index) {
        return polled().status(index);
    }

    @Override
    protected int opcode(int index) {
        return polled().opcode(index);
    }

    @Override
    protected int byteLength(int index) {
        return polled().byteLength(index);
    }

    @Override
    protected int vendorError(int index) {
        return 0;
    }

    @Override
    protected void armNatively(boolean any) {
        DisniErrors.run(() -> handle.requestNotification(!any), "the completion queue cannot be armed");
        if (pump != null) {
            pump.armed();
        }
    }

    @Override
    protected void destroy() {
        if (pump != null) {
            pump.close();
        }
        for (DisniLibrary.PreparedPoll call : polls) {
            if (call != null) {
                call.free();
            }
        }
        DisniErrors.close(handle::destroy, "a completion queue that is closed");
    }
}
