package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.softrdma.verbs.cm.DatagramRequest;
import org.softrdma.verbs.cm.DatagramService;

/** A question for datagrams, with its own id. Any thread. */
final class IbvDatagramRequest implements DatagramRequest {
    private static final byte[] NO_DATA = {};

    private final OpenDevice device;
    private final CmId id;
    private final CmEvent event;
    private final InetSocketAddress remote;
    private final AtomicBoolean answered = new AtomicBoolean();

    /**
     * One that has come.
     *
     * @param device its device, which counts it already
     * @param id of the question, released once it is answered
     * @param event that brought it
     */
    IbvDatagramRequest(OpenDevice device, CmId id, CmEvent event) {
        this.device = device;
        this.id = id;
        this.event = event;
        remote = id.remoteAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public byte[] privateData() {
        return event.privateData().clone();
    }

    @Override
    public void accept(DatagramService offered) {
        device.checkOffered(offered);
        claim();
        try {
            id.answer(offered);
        } finally {
            release();
        }
    }

    @Override
    public void reject(byte[] privateData) {
        device.checkPrivateData(privateData.length);
        claim();
        refuse(privateData);
    }

    private void claim() {
        if (!answered.compareAndSet(false, true)) {
            throw new IllegalStateException("this question was already accepted, rejected or closed");
        }
    }

    @Override
    public void close() {
        if (answered.compareAndSet(false, true)) {
            refuse(NO_DATA);
        }
    }

    private void refuse(byte[] privateData) {
        try {
            id.reject(privateData, null);
        } finally {
            release();
        }
    }

    private void release() {
        id.release();
        device.childClosed();
    }
}
