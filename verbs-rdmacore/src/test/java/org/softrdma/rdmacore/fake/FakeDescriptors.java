package org.softrdma.rdmacore.fake;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.ConnectionManagerAbi;

/** File descriptors that are none, and {@code poll(2)} on them. Under the fake's lock. */
final class FakeDescriptors {
    private static final int FIRST = 1 << 20;

    private final Condition changed;
    private final Map<Integer, BooleanSupplier> readable = new HashMap<>();
    private final Map<Integer, Boolean> woken = new HashMap<>();
    private int next = FIRST;

    FakeDescriptors(ReentrantLock lock) {
        changed = lock.newCondition();
    }

    /** A descriptor that is readable while something holds. */
    int open(BooleanSupplier isReadable) {
        int descriptor = next++;
        readable.put(descriptor, isReadable);
        return descriptor;
    }

    /** A descriptor of the real process stands for one that is readable while something holds. */
    void open(int descriptor, BooleanSupplier isReadable) {
        readable.put(descriptor, isReadable);
    }

    int openWake() {
        int descriptor = next++;
        woken.put(descriptor, false);
        readable.put(descriptor, () -> woken.getOrDefault(descriptor, false));
        return descriptor;
    }

    void wake(int descriptor, boolean on) {
        woken.replace(descriptor, on);
        changed.signalAll();
    }

    void close(int descriptor) {
        readable.remove(descriptor);
        woken.remove(descriptor);
    }

    /** What a descriptor depends on has changed. */
    void change() {
        changed.signalAll();
    }

    int open() {
        return readable.size();
    }

    int poll(long descriptors, int count, int timeoutMs) {
        long remainingNs = timeoutMs < 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        try {
            while (true) {
                int ready = look(descriptors, count);
                if (ready > 0 || remainingNs <= 0) {
                    return ready;
                }
                remainingNs = changed.awaitNanos(remainingNs);
            }
        } catch (InterruptedException e) {
            // An interrupt of a Java thread does not end poll(2).
            Thread.currentThread().interrupt();
            return look(descriptors, count);
        }
    }

    private int look(long descriptors, int count) {
        int ready = 0;
        for (int i = 0; i < count; i++) {
            long at = descriptors + i * ConnectionManagerAbi.POLL_DESCRIPTOR.byteSize();
            BooleanSupplier isReadable = readable.get(CMemory.getInt(at + ConnectionManagerAbi.POLL_FD));
            boolean now = isReadable != null && isReadable.getAsBoolean();
            CMemory.putShort(at + ConnectionManagerAbi.POLL_REVENTS, now ? ConnectionManagerAbi.POLL_READABLE : 0);
            ready += now ? 1 : 0;
        }
        return ready;
    }
}
