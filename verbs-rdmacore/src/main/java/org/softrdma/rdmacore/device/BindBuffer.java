package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendWorkRequest;

/**
 * The bind at the end of a chain of send work requests. From when it is written until the chain was posted, no region and
 * no window that a bind can name is freed ({@link BindableRegions}): the driver reads both.
 *
 * <p>A key that is no region's of this device is the device's to refuse, like every other wrong bind. So the driver gets
 * an {@code ibv_mr} with that key, which lies here.
 */
final class BindBuffer {
    /** Bytes of a region that is none, more than any driver puts behind an {@code ibv_mr}. */
    private static final long UNKNOWN_BYTES = 512;

    private final BindableRegions bindable;
    private final PostedBinds posted;
    private final long unknown;
    private long stamp;

    /** Of the chain that is being written. */
    private int position;

    private long sequence;

    /**
     * Allocates.
     *
     * @param arena of the queue pair
     * @param bindable what windows can be bound to
     * @param posted where binds are kept until it is known how they end
     */
    BindBuffer(Arena arena, BindableRegions bindable, PostedBinds posted) {
        this.bindable = bindable;
        this.posted = posted;
        unknown = arena.allocate(UNKNOWN_BYTES, Long.BYTES).address();
    }

    /**
     * Writes what only a bind has. It is the last request of its chain.
     *
     * @param at its {@code ibv_send_wr}
     * @param place in the chain
     * @param request a bind
     * @param number of the request in its queue
     */
    void write(long at, int place, SendWorkRequest request, long number) {
        if (!(request.window() instanceof CoreMemoryWindow window) || !window.isOf(bindable)) {
            throw new IllegalArgumentException("the memory window belongs to another device");
        }
        if (stamp != 0) {
            throw new IllegalStateException("two binds in one chain");
        }
        stamp = bindable.hold();
        try {
            CMemory.putInt(at + WorkRequestAbi.SEND_WINDOW_RKEY, posted.add(number, window));
        } catch (Throwable e) {
            release();
            throw e;
        }
        position = place;
        sequence = number;
        ScatterGatherList part = request.local();
        CMemory.putLong(at + WorkRequestAbi.SEND_WINDOW, window.pointer());
        CMemory.putLong(at + WorkRequestAbi.SEND_WINDOW_REGION, region(part.lkey(0), window));
        CMemory.putLong(at + WorkRequestAbi.SEND_WINDOW_ADDRESS, part.address(0));
        CMemory.putLong(at + WorkRequestAbi.SEND_WINDOW_LENGTH, part.length(0));
        CMemory.putInt(at + WorkRequestAbi.SEND_WINDOW_ACCESS, RegionRights.bits(request.windowAccess()));
    }

    private long region(int lkey, CoreMemoryWindow window) {
        long known = bindable.find(lkey);
        if (known != 0) {
            return known;
        }
        CMemory.putLong(unknown + VerbsAbi.REGION_DOMAIN, CMemory.getLong(window.pointer() + VerbsAbi.WINDOW_DOMAIN));
        CMemory.putInt(unknown + VerbsAbi.REGION_LKEY, lkey);
        CMemory.putInt(unknown + VerbsAbi.REGION_RKEY, lkey);
        return unknown;
    }

    /**
     * The chain was posted. A bind that the driver did not take gives its key back.
     *
     * @param taken requests that the driver took
     */
    void posted(int taken) {
        if (stamp == 0) {
            return;
        }
        if (position >= taken) {
            posted.takeBack(sequence);
        }
        release();
    }

    private void release() {
        bindable.release(stamp);
        stamp = 0;
    }
}
