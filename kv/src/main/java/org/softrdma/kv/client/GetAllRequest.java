package org.softrdma.kv.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Gets many values: each by itself as {@link GetRequest} does, all at a time; of a plain server with one command. */
final class GetAllRequest extends KvRequest<List<Optional<KvItem>>> {
    private final List<byte[]> keys;
    private final List<GetRequest> parts = new ArrayList<>();
    private int left;

    GetAllRequest(List<byte[]> keys) {
        this.keys = keys;
    }

    @Override
    public List<byte[]> keys() {
        return keys;
    }

    @Override
    void send(KvConnection connection) {
        if (keys.isEmpty()) {
            complete(List.of());
            return;
        }
        if (connection.reader() == null) {
            ValuesExchange.send(connection, this, "gets", keys, this::complete);
            return;
        }
        left = keys.size();
        for (byte[] key : keys) {
            GetRequest part = new GetRequest(key, GetRequest.BY_READ);
            part.onDone(() -> partDone(part));
            parts.add(part);
        }
        for (GetRequest part : parts) {
            part.limitLike(this);
            part.send(connection);
        }
    }

    private void partDone(GetRequest part) {
        left--;
        KvException failure = part.failure();
        if (failure != null) {
            fail(failure);
        } else if (left == 0 && !isDone()) {
            complete(parts.stream().map(GetRequest::result).toList());
        }
    }
}
