package org.softrdma.rdmacore.fake;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.ConnectionManagerAbi;

/** An {@code rdma_cm_id}. Under the fake's lock. */
final class FakeId {
    static final int BYTES = 416;

    final long pointer;
    final FakeEvents events;

    @Nullable
    FakeQueuePair queuePair;

    @Nullable
    FakeId peer;

    boolean listening;
    boolean connected;
    int wantedDepth;
    int grantedDepth;

    FakeId(long pointer, FakeEvents events, long cookie, int portSpace) {
        this.pointer = pointer;
        this.events = events;
        CMemory.putLong(pointer + ConnectionManagerAbi.ID_CHANNEL, events.pointer);
        CMemory.putLong(pointer + ConnectionManagerAbi.ID_COOKIE, cookie);
        CMemory.putInt(pointer + ConnectionManagerAbi.ID_PORT_SPACE, portSpace);
    }

    int portSpace() {
        return CMemory.getInt(pointer + ConnectionManagerAbi.ID_PORT_SPACE);
    }

    boolean isOfDatagrams() {
        return portSpace() == ConnectionManagerAbi.PORT_SPACE_UDP;
    }

    long source() {
        return pointer + ConnectionManagerAbi.ID_SOURCE;
    }

    long destination() {
        return pointer + ConnectionManagerAbi.ID_DESTINATION;
    }

    /** An {@code rdma_event_channel}. */
    static final class FakeEvents {
        final long pointer = FakeMemory.allocate(8);
        final ArrayDeque<Long> waiting = new ArrayDeque<>();
        private final FakeDescriptors descriptors;

        FakeEvents(FakeDescriptors descriptors) {
            this.descriptors = descriptors;
            CMemory.putInt(pointer + ConnectionManagerAbi.EVENT_CHANNEL_FD, descriptors.open(() -> !waiting.isEmpty()));
        }

        /** Adds one that answers a question for datagrams. */
        void addAnswer(int type, FakeId id, byte[] data, int number, int key) {
            add(type, 0, id, 0, data, 0, 0);
            long parameters = waiting.getLast() + ConnectionManagerAbi.EVENT_PARAMETERS;
            CMemory.putInt(parameters + ConnectionManagerAbi.DATAGRAM_QUEUE_PAIR, number);
            CMemory.putInt(parameters + ConnectionManagerAbi.DATAGRAM_QUEUE_KEY, key);
        }

        /** Adds an {@code rdma_cm_event}. */
        void add(
                int type,
                int status,
                FakeId id,
                long listener,
                byte[] data,
                int responderResources,
                int initiatorDepth) {
            long event = FakeMemory.allocate(ConnectionManagerAbi.EVENT.byteSize());
            CMemory.putLong(event + ConnectionManagerAbi.EVENT_ID, id.pointer);
            CMemory.putLong(event + ConnectionManagerAbi.EVENT_LISTEN_ID, listener);
            CMemory.putInt(event + ConnectionManagerAbi.EVENT_TYPE, type);
            CMemory.putInt(event + ConnectionManagerAbi.EVENT_STATUS, status);
            long parameters = event + ConnectionManagerAbi.EVENT_PARAMETERS;
            if (data.length > 0) {
                long copy = FakeMemory.allocate(data.length);
                CMemory.putBytes(copy, data);
                CMemory.putLong(parameters + ConnectionManagerAbi.PARAMETERS_DATA, copy);
            }
            CMemory.putByte(parameters + ConnectionManagerAbi.PARAMETERS_DATA_LENGTH, (byte) data.length);
            CMemory.putByte(
                    parameters + ConnectionManagerAbi.PARAMETERS_RESPONDER_RESOURCES, (byte) responderResources);
            CMemory.putByte(parameters + ConnectionManagerAbi.PARAMETERS_INITIATOR_DEPTH, (byte) initiatorDepth);
            waiting.addLast(event);
            descriptors.change();
        }
    }
}
