package org.softrdma.rdmacore.fake;

import org.softrdma.rdmacore.abi.VerbsLibrary;

/** Operations of a context, for a test that changes one of them. */
public class DelegatingOperations implements VerbsLibrary.Operations {
    private final VerbsLibrary.Operations operations;

    /**
     * All unchanged.
     *
     * @param operations of the fake
     */
    public DelegatingOperations(VerbsLibrary.Operations operations) {
        this.operations = operations;
    }

    @Override
    public int postSend(long queuePair, long workRequests, long bad) {
        return operations.postSend(queuePair, workRequests, bad);
    }

    @Override
    public int postReceive(long queuePair, long workRequests, long bad) {
        return operations.postReceive(queuePair, workRequests, bad);
    }

    @Override
    public int postSharedReceive(long sharedQueue, long workRequests, long bad) {
        return operations.postSharedReceive(sharedQueue, workRequests, bad);
    }

    @Override
    public long allocateWindow(long domain, int type) {
        return operations.allocateWindow(domain, type);
    }

    @Override
    public int deallocateWindow(long window) {
        return operations.deallocateWindow(window);
    }

    @Override
    public int poll(long queue, int max, long completions) {
        return operations.poll(queue, max, completions);
    }

    @Override
    public int requestNotification(long queue, int solicitedOnly) {
        return operations.requestNotification(queue, solicitedOnly);
    }
}
