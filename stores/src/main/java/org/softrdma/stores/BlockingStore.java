package org.softrdma.stores;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * Wraps a client to run one operation at a time: each call waits for its result. Nothing else may use the client
 * meanwhile. Owned by the client's thread.
 */
public final class BlockingStore implements AutoCloseable {
    private final StoreClient client;
    private Outcome outcome = Outcome.LOST;
    private byte[] value = new byte[0];

    /**
     * A store.
     *
     * @param client closed with this
     */
    public BlockingStore(StoreClient client) {
        this.client = client;
    }

    /** The client. */
    public StoreClient client() {
        return client;
    }

    /**
     * The value of a key.
     *
     * @return empty if there is none
     * @throws StoreException if there was no answer, or too much conflict
     */
    public Optional<byte[]> get(byte[] key) {
        started(client.startGet(key, 0));
        return switch (await("get")) {
            case FOUND -> Optional.of(value);
            case MISSING -> Optional.empty();
            default -> throw new StoreException("get: " + outcome);
        };
    }

    /**
     * Stores a pair.
     *
     * @return false if there is no memory for it
     * @throws StoreException if there was no answer, or too much conflict; after {@link Outcome#LOST} it may be stored
     */
    public boolean put(byte[] key, byte[] newValue) {
        started(client.startPut(key, MemorySegment.ofArray(newValue), 0));
        return switch (await("put")) {
            case STORED -> true;
            case FULL -> false;
            default -> throw new StoreException("put: " + outcome);
        };
    }

    /**
     * Removes a pair.
     *
     * @return false if it was not there
     * @throws StoreException if there was no answer, or too much conflict; after {@link Outcome#LOST} it may be gone
     */
    public boolean remove(byte[] key) {
        started(client.startRemove(key, 0));
        return switch (await("remove")) {
            case REMOVED -> true;
            case MISSING -> false;
            default -> throw new StoreException("remove: " + outcome);
        };
    }

    /** How the last operation ended. */
    public Outcome lastOutcome() {
        return outcome;
    }

    private static void started(boolean started) {
        if (!started) {
            throw new IllegalStateException("the client is in use: its window is full");
        }
    }

    private Outcome await(String what) {
        outcome = Outcome.LOST;
        int results = 0;
        while (results == 0) {
            results = client.await(Long.MAX_VALUE, this::take);
            if (results == 0 && client.outstanding() == 0) {
                throw new IllegalStateException(what + ": the client has lost the operation");
            }
        }
        return outcome;
    }

    private void take(long tag, Outcome newOutcome, MemorySegment memory, long offset, long length) {
        outcome = newOutcome;
        if (newOutcome == Outcome.FOUND) {
            value = memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
