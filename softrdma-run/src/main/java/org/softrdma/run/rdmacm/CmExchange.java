package org.softrdma.run.rdmacm;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.sim.roce.wire.PrivateData;

/** What an id exchanges with a peer: messages that make and end a connection, or a question for datagrams and its answer. */
interface CmExchange {
    /** The way to the peer. */
    GidPath path();

    /** Transfer unit as verbs number it. */
    int unitCode();

    /**
     * The program accepts.
     *
     * @param said empty if it has no more to say: its queue pair is ready for the connection that it has asked for
     */
    void accept(Optional<ConnectionParameter> said) throws CallRefusedException;

    /** The program refuses. */
    void reject(int reason, PrivateData data) throws CallRefusedException;

    /** The program ends it. */
    void disconnect();

    /** The program knows by its queue pair that the peer is ready. */
    void established() throws CallRefusedException;

    /** Writes what the queue pair needs for a state, {@link PairAttributesDescriptor}. */
    void writeAttributes(MemorySegment to, int state) throws CallRefusedException;

    /** The id is gone. */
    void close();
}
