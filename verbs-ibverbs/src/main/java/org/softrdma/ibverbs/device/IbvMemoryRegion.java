package org.softrdma.ibverbs.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.Closing;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.HostMemories;

/** An {@code ibv_mr}. Thread-safe. */
public abstract class IbvMemoryRegion implements MemoryRegion {
    private final Closing closing = new Closing();
    // They change when the region is registered anew.
    private volatile Registration registration;
    private volatile long base;
    private volatile int lkey;
    private volatile int rkey;
    /** What the device may use besides, since a reregistration has failed; released on close. */
    private @Nullable Registration doubtful;

    /**
     * What a registration consists of.
     *
     * @param access rights in force
     * @param owner the device allocation that contains it, whose registration is counted already; null for other memory
     * @param home what the domain does for it
     */
    public record Registration(
            ProtectionDomain domain,
            MemorySegment memory,
            Set<AccessFlag> access,
            HostMemories.@Nullable Allocation owner,
            Home home) {
        /** The memory is not registered any more, or never was. */
        void release() {
            if (owner != null) {
                owner.release();
            }
        }
    }

    /** What a domain does for its regions. */
    interface Home {
        /**
         * Checks a change, and takes what the region needs for it: the new memory, a place in the new domain.
         *
         * @param current what is registered now
         * @param change what is asked for
         * @return what will be registered
         * @throws VerbsException if it is refused; nothing was taken
         */
        Registration prepare(Registration current, Reregistration change);

        /** A region has a place in this domain, which another domain gave up. */
        void entered();

        /** A region has no place in this domain any more. */
        void left();

        /** A region is closed, after {@link #left}. */
        void closed(MemoryRegion region);
    }

    /**
     * Wraps a region that was just registered.
     *
     * @param registration what was registered
     * @param base its first address
     * @param lkey local key
     * @param rkey remote key
     */
    protected IbvMemoryRegion(Registration registration, long base, int lkey, int rkey) {
        this.registration = registration;
        this.base = base;
        this.lkey = lkey;
        this.rkey = rkey;
    }

    /**
     * {@code ibv_rereg_mr}, where the device has {@link Feature#REREGISTRATION}.
     *
     * @param next what is registered then
     * @param change which of it has changed
     * @return the keys from now on
     * @throws VerbsException if it is refused: the region is as it was, unless {@link #inDoubt} was called
     */
    protected Keys reregister(Registration next, Reregistration change) {
        throw new IllegalStateException("a device with " + Feature.REREGISTRATION + " must do this: " + change);
    }

    /**
     * The keys of a registration.
     *
     * @param base its first address
     * @param lkey local key
     * @param rkey remote key
     */
    public record Keys(long base, int lkey, int rkey) {}

    /**
     * {@code ibv_dereg_mr}. If it throws, the memory stays registered for the life of the process, unless it called
     * {@link #stillOpen}.
     */
    protected abstract void deregister();

    /**
     * The native region could not be deregistered, so that {@link #close} may be called again. From {@link
     * #deregister}.
     */
    protected final void stillOpen() {
        closing.stillOpen();
    }

    @Override
    public final ProtectionDomain protectionDomain() {
        return registration.domain;
    }

    @Override
    public final MemorySegment memory() {
        if (closing.hasBegun()) {
            throw new IllegalStateException("the memory region is closed");
        }
        return registration.memory;
    }

    @Override
    public final long address() {
        return base;
    }

    @Override
    public final long length() {
        return registration.memory.byteSize();
    }

    @Override
    public final int lkey() {
        return lkey;
    }

    @Override
    public final int rkey() {
        return rkey;
    }

    @Override
    public final Set<AccessFlag> access() {
        return registration.access;
    }

    @Override
    public final void swap(MemoryRegion other) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "swap: this device cannot exchange the memory of two keys; expected one with REGION_SWAP");
    }

    // ---- registering anew

    @Override
    public final void reregister(Reregistration change) {
        if (!closing.whileOpen(() -> change(change))) {
            throw new IllegalStateException("the memory region is closed");
        }
    }

    private void change(Reregistration change) {
        if (doubtful != null) {
            throw new IllegalStateException("a reregistration has failed: the region can only be closed");
        }
        Registration current = registration;
        Registration next = current.home.prepare(current, change);
        Keys keys = Creation.orUndo(() -> reregister(next, change), () -> giveBack(current, next), "a reregistration");
        base = keys.base;
        lkey = keys.lkey;
        rkey = keys.rkey;
        registration = next;
        giveBack(next, current);
    }

    /** Gives back what only one of two registrations has. */
    private void giveBack(Registration kept, Registration gone) {
        if (doubtful == gone) {
            return;
        }
        if (!gone.memory.equals(kept.memory)) {
            gone.release();
        }
        if (gone.home != kept.home) {
            gone.home.left();
        }
    }

    /**
     * The device may use either registration from now on. From {@link #reregister(Registration, Reregistration)}, before
     * it throws.
     *
     * @param next what was to be registered
     */
    protected final void inDoubt(Registration next) {
        doubtful = next;
    }

    // ---- the end

    @Override
    public final void close() {
        closing.once(() -> {
            deregister();
            Registration last = registration;
            Registration other = doubtful;
            doubtful = null;
            if (other != null) {
                giveBack(last, other);
            }
            last.release();
            last.home.left();
            last.home.closed(this);
        });
    }

    @Override
    public final String toString() {
        return "MemoryRegion[0x" + Long.toHexString(base) + "+" + length() + " " + access() + "]";
    }
}
