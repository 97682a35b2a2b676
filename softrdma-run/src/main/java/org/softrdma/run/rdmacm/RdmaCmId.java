package org.softrdma.run.rdmacm;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An id of a program ({@code struct rdma_cm_id}): its addresses, how far it has come, and what it exchanges with a peer. */
final class RdmaCmId {
    /** How far it has come; as Linux has them. */
    enum State {
        IDLE,
        BOUND,
        ADDRESS_RESOLVED,
        ROUTE_RESOLVED,
        CONNECT,
        LISTEN
    }

    private final int handle;
    private final int portSpace;
    private CmChannel channel;
    private long name;
    private State state = State.IDLE;
    private @Nullable InetSocketAddress source;
    private @Nullable InetSocketAddress destination;
    private @Nullable CmExchange exchange;
    private @Nullable CmListener listener;
    /** It has a port of its own, and not that of the id that has listened. */
    private boolean hasPort;

    private boolean sharesPort;
    private boolean ownFamilyOnly;
    private int trafficClass;
    private int lifetime = GidPath.LIFETIME;
    private int eventsRead;

    /**
     * One that is new.
     *
     * @param channel of its events
     * @param name by which the program hears of it; 0 as long as it is to hear nothing
     * @param portSpace of its port
     */
    RdmaCmId(int handle, CmChannel channel, long name, int portSpace) {
        this.handle = handle;
        this.channel = channel;
        this.name = name;
        this.portSpace = portSpace;
    }

    int handle() {
        return handle;
    }

    CmChannel channel() {
        return channel;
    }

    void moveTo(CmChannel other) {
        channel = other;
    }

    long name() {
        return name;
    }

    /** The program has accepted a request, and hears of its id from now on. */
    void name(long given) {
        name = given;
    }

    int portSpace() {
        return portSpace;
    }

    State state() {
        return state;
    }

    void become(State next) {
        state = next;
    }

    Optional<InetSocketAddress> source() {
        return Optional.ofNullable(source);
    }

    Optional<InetSocketAddress> destination() {
        return Optional.ofNullable(destination);
    }

    /** It has an address and a port of its own. */
    void bind(InetSocketAddress address) {
        source = address;
        hasPort = true;
        if (state == State.IDLE) {
            state = State.BOUND;
        }
    }

    /** It has both addresses. */
    void resolve(InetSocketAddress from, InetSocketAddress to) {
        source = from;
        destination = to;
    }

    boolean hasPort() {
        return hasPort;
    }

    boolean sharesPort() {
        return sharesPort;
    }

    void sharePort(boolean shares) {
        sharesPort = shares;
    }

    boolean isOwnFamilyOnly() {
        return ownFamilyOnly;
    }

    void ownFamilyOnly(boolean only) {
        ownFamilyOnly = only;
    }

    int trafficClass() {
        return trafficClass;
    }

    void trafficClass(int value) {
        trafficClass = value;
    }

    /** 4.096 us x 2^lifetime is how long a packet may take. */
    int lifetime() {
        return lifetime;
    }

    void lifetime(int value) {
        lifetime = value;
    }

    Optional<CmExchange> exchange() {
        return Optional.ofNullable(exchange);
    }

    void exchange(CmExchange begun) {
        exchange = begun;
        state = State.CONNECT;
    }

    Optional<CmListener> listener() {
        return Optional.ofNullable(listener);
    }

    void listen(CmListener hearing) {
        listener = hearing;
        state = State.LISTEN;
    }

    /** Tells the program that something has happened. A program that has not accepted a request yet hears nothing of its id. */
    void raise(int event, int status, RdmaCmEvent.Parameter parameter) {
        if (name != 0) {
            channel.add(RdmaCmEvent.of(this, event, status, parameter));
        }
    }

    /** The program has read one of its events. */
    void read(RdmaCmEvent event) {
        eventsRead++;
        if (event.made() != null && listener != null) {
            listener.read();
        }
    }

    int eventsRead() {
        return eventsRead;
    }

    /** Nobody has it any more: its peers hear of it. */
    void close() {
        if (listener != null) {
            listener.close();
        }
        if (exchange != null) {
            exchange.close();
        }
    }
}
