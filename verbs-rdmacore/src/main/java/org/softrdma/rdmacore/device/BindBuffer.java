package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendWorkRequest;

/**
 * The binds of a chain of send work requests. From the first that is written until the chain was posted, no region and
 * no window that a bind can name is freed ({@link BindableRegions}): the driver reads both.
 *
 * <p>A key that is no region's of this device is the device's to refuse, like every other wrong bind. So the driver gets
 * an {@code ibv_mr} with that key, which lies here.
 */
final class BindBuffer {
    /** Bytes of a region that is none, more than any driver puts behind an {@code ibv_mr}. */
    private static final long UNKNOWN_BYTES = 512;

    private final BindableRegions bindable;
    private final @Nullable CoreMemoryWindow[] windows;
    private final long unknown;
    private long stamp;

    /**
     * Allocates.
     *
     * @param arena of the queue pair
     * @param chain requests of a chain
     * @param bindable what windows can be bound to
     */
    BindBuffer(Arena arena, int chain, BindableRegions bindable) {
        this.bindable = bindable;
        windows = new CoreMemoryWindow[chain];
        unknown = arena.allocate(chain * UNKNOWN_BYTES, Long.BYTES).address();
    }

    /**
     * Writes what only a bind has.
     *
     * @param at its {@code ibv_send_wr}
     * @param position in the chain
     * @param request a bind
     */
    void write(long at, int position, SendWorkRequest request) {
        if (!(request.window() instanceof CoreMemoryWindow window) || !window.isOf(bindable)) {
            throw new IllegalArgumentException("the memory window belongs to another device");
        }
        if (stamp == 0) {
            stamp = bindable.hold();
        }
        try {
            CMemory.putInt(at + WorkRequestAbi.SEND_WINDOW_RKEY, window.posting());
        } catch (IllegalStateException e) {
            releaseUnlessUsed();
            throw e;
        }
        windows[position] = window;
        ScatterGatherList part = request.local();
        CMemory.putLong(at + WorkRequestAbi.SEND_WINDOW, window.pointer());
        CMemory.putLong(at + WorkRequestAbi.SEND_WINDOW_REGION, region(position, part.lkey(0), window));
        CMemory.putLong(at + WorkRequestAbi.SEND_WINDOW_ADDRESS, part.address(0));
        CMemory.putLong(at + WorkRequestAbi.SEND_WINDOW_LENGTH, part.length(0));
        CMemory.putInt(at + WorkRequestAbi.SEND_WINDOW_ACCESS, RegionRights.bits(request.windowAccess()));
    }

    private long region(int position, int lkey, CoreMemoryWindow window) {
        long known = bindable.find(lkey);
        if (known != 0) {
            return known;
        }
        long none = unknown + position * UNKNOWN_BYTES;
        CMemory.putLong(none + VerbsAbi.REGION_DOMAIN, CMemory.getLong(window.pointer() + VerbsAbi.WINDOW_DOMAIN));
        CMemory.putInt(none + VerbsAbi.REGION_LKEY, lkey);
        CMemory.putInt(none + VerbsAbi.REGION_RKEY, lkey);
        return none;
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
        for (int i = windows.length - 1; i >= 0; i--) {
            CoreMemoryWindow window = windows[i];
            if (window != null && i >= taken) {
                window.notPosted();
            }
        }
        for (int i = 0; i < windows.length; i++) {
            CoreMemoryWindow window = windows[i];
            if (window != null && i < taken) {
                CMemory.putInt(window.pointer() + VerbsAbi.WINDOW_RKEY, window.rkey());
            }
            windows[i] = null;
        }
        release();
    }

    private void releaseUnlessUsed() {
        for (CoreMemoryWindow window : windows) {
            if (window != null) {
                return;
            }
        }
        release();
    }

    private void release() {
        bindable.release(stamp);
        stamp = 0;
    }
}
