package org.softrdma.rdmacore.fake;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;

/** The {@code ibv_mw}s of a device. Under the fake's lock. */
final class FakeWindows {
    private static final int FIRST_KEY = 0x4000_0000;
    private static final int COUNTED = 0xFF;

    private final Map<Long, Window> byPointer = new HashMap<>();
    private int next = FIRST_KEY;

    /** A window, and what it is bound to. */
    static final class Window {
        final long domain;
        private int key;
        private @Nullable FakeQueuePair owner;
        private int lkey;
        private long address;
        private long length;
        private int access;

        private Window(long domain, int key) {
            this.domain = domain;
            this.key = key;
        }

        int lkey() {
            return lkey;
        }
    }

    /** What a bind asks for. Its window had the old key in its {@code ibv_mw} when the bind was posted. */
    record Bind(long window, int oldKey, int key, int lkey, long address, long length, int access) {}

    long allocate(long domain, int type) {
        long pointer = FakeMemory.allocate(VerbsAbi.WINDOW.byteSize());
        next += COUNTED + 1;
        byPointer.put(pointer, new Window(domain, next));
        CMemory.putLong(pointer + VerbsAbi.WINDOW_DOMAIN, domain);
        CMemory.putInt(pointer + VerbsAbi.WINDOW_RKEY, next);
        CMemory.putInt(pointer + VerbsAbi.WINDOW_TYPE, type);
        return pointer;
    }

    boolean deallocate(long pointer) {
        return byPointer.remove(pointer) != null;
    }

    int live() {
        return byPointer.size();
    }

    boolean anyOf(long domain) {
        return byPointer.values().stream().anyMatch(window -> window.domain == domain);
    }

    /** True if a window is bound to a region. */
    boolean isBound(int lkey) {
        return byPointer.values().stream().anyMatch(window -> window.owner != null && window.lkey == lkey);
    }

    /**
     * Binds a window that is not bound, if its {@code ibv_mw} had the key that the device knows, as librxe passes it on, and
     * if the new key differs from the old one in what the application may choose.
     *
     * @param bind checked against the region
     */
    boolean bind(FakeQueuePair owner, Bind bind) {
        Window window = byPointer.get(bind.window);
        if (window == null
                || window.owner != null
                || window.domain != owner.domain
                || window.key != bind.oldKey
                || window.key == bind.key
                || ((window.key ^ bind.key) & ~COUNTED) != 0) {
            return false;
        }
        window.key = bind.key;
        window.owner = owner;
        window.lkey = bind.lkey;
        window.address = bind.address;
        window.length = bind.length;
        window.access = bind.access;
        return true;
    }

    /** Takes a key back, if it is of a window that a queue pair has bound. */
    boolean invalidate(FakeQueuePair owner, int key) {
        Window window = find(key);
        if (window == null || window.owner != owner) {
            return false;
        }
        window.owner = null;
        return true;
    }

    /** The window through which a queue pair's peer may access a range, or null. */
    @Nullable
    Window reach(FakeQueuePair owner, int key, long address, long length, int right) {
        Window window = find(key);
        return window != null
                        && window.owner == owner
                        && (window.access & right) == right
                        && address >= window.address
                        && address + length <= window.address + window.length
                ? window
                : null;
    }

    private @Nullable Window find(int key) {
        return byPointer.values().stream()
                .filter(window -> window.owner != null && window.key == key)
                .findFirst()
                .orElse(null);
    }

    /** A queue pair is gone: its windows are not bound any more. */
    void gone(FakeQueuePair owner) {
        byPointer.values().stream().filter(window -> window.owner == owner).forEach(window -> window.owner = null);
    }
}
