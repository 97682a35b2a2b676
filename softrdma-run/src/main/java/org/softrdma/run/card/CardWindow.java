package org.softrdma.run.card;

import org.softrdma.run.rxe.BindElement;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.SendWorkRequest;

/**
 * A program's memory window. Its key has 24 bits that stay, by which the card finds it, and 8 that the program chooses with each bind
 * (ibv_inc_rkey(3)). A bind names the key that the window has had before.
 */
public final class CardWindow {
    private static final int CHOSEN_MASK = 0xFF;

    private final SoftRdmaDevice device;
    private final MemoryWindow window;
    private final Runnable closed;
    /** Of the bind that was posted last. */
    private int key;
    /** Of the last one that has not failed. */
    private int boundKey;

    CardWindow(SoftRdmaDevice device, MemoryWindow window, int key, Runnable closed) {
        this.device = device;
        this.window = window;
        this.key = key;
        this.closed = closed;
        boundKey = key;
    }

    /** The index of a key: the bits that stay. */
    static int index(int key) {
        return key >>> Byte.SIZE;
    }

    /** Its key. */
    public int key() {
        return key;
    }

    /**
     * Makes a request that binds it.
     *
     * @param number of the request
     * @return false if it cannot be
     */
    boolean bind(BindElement wanted, SendWorkRequest into, long number, int flags) {
        if (wanted.window() != key || !AccessBits.areOfWindow(wanted.access())) {
            return false;
        }
        int next = (key & ~CHOSEN_MASK) | (wanted.key() & CHOSEN_MASK);
        device.chooseKey(window, next, (wanted.access() & AccessBits.ZERO_BASED) != 0);
        into.bindWindow(number, window, AccessBits.ofPeer(wanted.access()), flags)
                .add(wanted.address(), wanted.length(), wanted.lkey());
        key = next;
        return true;
    }

    /** A bind was done, or has failed: then the program goes back to the key from before. */
    void bound(int newKey, boolean success) {
        if (success) {
            boundKey = newKey;
        } else {
            key = boundKey;
        }
    }

    /** Takes it away. */
    public void close() {
        window.close();
        closed.run();
    }
}
