package org.softrdma.sanitiser.watch;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.softrdma.sanitiser.finding.OpenObject;

/** The objects of all wrapped devices that are not closed yet, and where they were created. Thread-safe. */
public final class OpenObjects {
    private final ConcurrentSkipListMap<Long, OpenObject> open = new ConcurrentSkipListMap<>();
    private final AtomicLong objects = new AtomicLong();
    private final AtomicInteger devices = new AtomicInteger();

    OpenObjects() {}

    /** A number for another device. */
    public int nextDevice() {
        return devices.getAndIncrement();
    }

    /**
     * An object was created. Call this on the thread that created it.
     *
     * @param device number of its device
     * @param what it is, for people
     * @param outlivesDevice true if it may be closed after its device
     * @return its number
     */
    public long opened(int device, String what, boolean outlivesDevice) {
        long number = objects.getAndIncrement();
        open.put(number, new OpenObject(number, device, what, outlivesDevice, CallSite.calls()));
        return number;
    }

    /**
     * An object was closed. It may have been closed before.
     *
     * @return what was known of it; empty if it was closed before
     */
    public Optional<OpenObject> closed(long number) {
        return Optional.ofNullable(open.remove(number));
    }

    /**
     * An object could not be closed after all.
     *
     * @param object as {@link #closed} has returned it
     */
    public void goesOn(OpenObject object) {
        open.put(object.number(), object);
    }

    /** All of them, in the order of creation. */
    public List<OpenObject> list() {
        return List.copyOf(open.values());
    }

    /**
     * Those that have to be closed before their device, in the order of creation.
     *
     * @param device number of the device
     */
    public List<OpenObject> childrenOf(int device) {
        return open.values().stream()
                .filter(object -> object.device() == device && !object.outlivesDevice())
                .toList();
    }
}
