package org.softrdma.sanitiser.watch;

import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.AddressHandle;

/** Follows an address handle to its end. Any thread. */
public final class AddressHandleWatch {
    private final Watch watch;
    private final AddressHandle handle;

    /**
     * Of a new handle.
     *
     * @param watch shared
     * @param handle the provider's
     */
    public AddressHandleWatch(Watch watch, AddressHandle handle) {
        this.watch = watch;
        this.handle = handle;
    }

    /** It is about to be closed: reports the datagrams that are still to be sent, unless they are flushed anyway. */
    public void closing() {
        for (OutstandingRequest datagram : watch.datagrams().outstandingOn(handle)) {
            if (datagram.queuePair().isAlive()) {
                watch.reporter()
                        .report(new Finding(
                                Rule.ADDRESS_HANDLE_CLOSED_WHILE_OUTSTANDING,
                                handle + " is closed, and this datagram has not completed",
                                datagram.queuePair().ends(),
                                datagram.name(),
                                null,
                                CallSite.calls()));
            }
        }
    }
}
