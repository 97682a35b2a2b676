package org.softrdma.sanitiser.device;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.softrdma.sanitiser.finding.OpenObject;
import org.softrdma.sanitiser.watch.OpenObjects;

/** From the creation of an object to its closing. Thread-safe. */
final class Lifetime {
    private final OpenObjects open;
    private final long number;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile Optional<OpenObject> last = Optional.empty();

    private Lifetime(OpenObjects open, long number) {
        this.open = open;
        this.number = number;
    }

    /** Of an object that was just created, on the thread that created it. */
    static Lifetime of(OpenObjects open, int device, String what) {
        return new Lifetime(open, open.opened(device, what, false));
    }

    /** Of an object that may be closed after its device. */
    static Lifetime beyondDevice(OpenObjects open, int device, String what) {
        return new Lifetime(open, open.opened(device, what, true));
    }

    /** True for the first caller that ends it. */
    boolean end() {
        last = open.closed(number);
        return ended.compareAndSet(false, true);
    }

    /** It could not be closed after all; by the caller that has ended it. */
    void goesOn() {
        ended.set(false);
        last.ifPresent(open::goesOn);
    }
}
