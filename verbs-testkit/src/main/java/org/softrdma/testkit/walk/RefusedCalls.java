package org.softrdma.testkit.walk;

import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Calls that must be refused, or may be. The walk's thread. */
final class RefusedCalls {
    private RefusedCalls() {}

    /** What may be refused. */
    interface Call {
        /** Calls. */
        void run();
    }

    static void requireBusy(String what, Call call) {
        if (!isBusy(what, call)) {
            throw new WalkFailure(what + " was not refused");
        }
    }

    /** Calls; true if that was refused because something is in use. */
    private static boolean isBusy(String what, Call call) {
        try {
            call.run();
            return false;
        } catch (VerbsException e) {
            if (e.code() == VerbsErrorCode.BUSY) {
                return true;
            }
            throw new WalkFailure(what + " was refused with " + e.code(), e);
        }
    }

    /** The same where windows hold a region, or may: true if it was refused, as far as it can be. */
    static boolean isBusy(String what, Call call, Bindings.Hold hold) {
        boolean busy = isBusy(what, call);
        if (hold != Bindings.Hold.MAYBE && busy != (hold == Bindings.Hold.SURE)) {
            throw new WalkFailure(what
                    + (busy
                            ? " was refused, and no window is bound to it"
                            : " was not refused, and a window is bound to it"));
        }
        return busy;
    }

    static void requireIllegal(String what, Call call) {
        try {
            call.run();
        } catch (IllegalArgumentException e) {
            return;
        }
        throw new WalkFailure(what + " was not refused");
    }

    static void requireIllegalState(String what, Call call) {
        try {
            call.run();
        } catch (IllegalStateException e) {
            return;
        }
        throw new WalkFailure(what + " was not refused");
    }
}
