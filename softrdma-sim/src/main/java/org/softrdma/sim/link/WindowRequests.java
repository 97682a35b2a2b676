package org.softrdma.sim.link;

import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.StreamWindows;
import org.softrdma.sim.queue.EntryTable;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.verbs.SendOpcode;

/**
 * Binds and invalidates memory windows, for requests of the application, which send nothing, and for a peer's SEND that
 * asks for an invalidation.
 *
 * <p>Only this queue pair can use the key of a window that is bound on it. So when this engine takes the key back, nothing
 * but what this connection has granted or begun is left: the former is {@linkplain
 * org.softrdma.sim.memory.Quiescence.Epoch#grantAgain asked again}, the latter asks its binding. Engine thread only.
 */
public final class WindowRequests {
    private final RnicEngine engine;
    private final SendQueue sends;
    private final EntryTable entries;
    private final StreamWindows windows;

    WindowRequests(RnicEngine engine, SendQueue sends, StreamWindows windows) {
        this.engine = engine;
        this.sends = sends;
        this.windows = windows;
        entries = sends.entries();
    }

    /** True for the requests that are executed here. */
    static boolean isOne(SendOpcode opcode) {
        return opcode == SendOpcode.BIND_WINDOW || opcode == SendOpcode.INVALIDATE;
    }

    /** Executes the request in a slot; false if it fails. */
    public boolean execute(int slot) {
        if (sends.opcode(slot) == SendOpcode.INVALIDATE) {
            return invalidate(sends.rkey(slot));
        }
        return windows.bind(
                sends.window(slot),
                sends.rkey(slot),
                entries.lkey(slot, 0),
                entries.address(slot, 0),
                entries.length(slot, 0),
                (int) sends.remoteAddress(slot));
    }

    /** True if a key can be taken back now. */
    public boolean canInvalidate(int key) {
        return windows.isBound(key);
    }

    /** Takes a key back; false if no window that is bound on this queue pair has it. */
    public boolean invalidate(int key) {
        boolean done = windows.invalidate(key);
        if (done) {
            engine.epoch().grantAgain();
        }
        return done;
    }
}
