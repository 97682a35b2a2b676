package org.softrdma.kv.client;

import java.util.List;

/** A request that is done when it was sent. */
final class NoreplyRequest extends KvRequest<Boolean> {
    private final LineRequest<?> request;

    NoreplyRequest(LineRequest<?> request) {
        this.request = request;
    }

    @Override
    public List<byte[]> keys() {
        return request.keys();
    }

    @Override
    void send(KvConnection connection) {
        request.sendNoreply(connection);
        complete(true);
    }
}
