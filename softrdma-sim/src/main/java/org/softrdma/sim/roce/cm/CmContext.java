package org.softrdma.sim.roce.cm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.softrdma.sim.roce.wire.CmIds;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.Mad;
import org.softrdma.sim.roce.wire.PrivateData;

/** What all exchanges of a connection manager share: its settings, timers and counters, and where messages are written. One thread. */
final class CmContext {
    final CmSettings settings;
    /** Of this device. */
    final long guid;

    final CmTimers timers = new CmTimers();
    final CmCounters counters = new CmCounters();
    private final CmOutput output;
    private final MemorySegment mad = Arena.ofAuto().allocate(Mad.LENGTH, Long.BYTES);

    CmContext(CmSettings settings, long guid, CmOutput output) {
        this.settings = settings;
        this.guid = guid;
        this.output = output;
    }

    /** Where the next message is written. */
    long mad() {
        return mad.address();
    }

    /** Sends the message that was written. */
    void send(CmPeer peer) {
        output.send(peer, mad.address());
    }

    void sendReject(CmPeer peer, long transaction, ConnectReject rejection) {
        rejection.write(mad(), transaction);
        send(peer);
    }

    void sendDisconnectReply(CmPeer peer, long transaction, CmIds ids) {
        ids.writeDisconnectReply(mad(), transaction);
        send(peer);
    }

    /** A REJ without information. */
    static ConnectReject rejection(CmIds ids, int message, int reason, PrivateData data) {
        return new ConnectReject(ids.localId(), ids.remoteId(), message, reason, PrivateData.NONE, data);
    }
}
