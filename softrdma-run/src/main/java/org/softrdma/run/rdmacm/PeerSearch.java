package org.softrdma.run.rdmacm;

import java.net.InetAddress;
import java.util.List;
import java.util.function.IntConsumer;
import org.softrdma.sim.roce.cm.CmPort;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * Asks for a service at one UDP port of a peer after the other, because several runs share an address: 4791 first, and on this host the
 * ports of the others. If it is at none of them, all are asked again for half a second: a program that has just let a peer go, as perftest
 * does, may be about to listen again.
 */
final class PeerSearch {
    private static final long PAUSE_NS = 50_000_000;
    private static final int ROUNDS = 10;

    private final CmPort port;
    private final InetAddress peer;
    private final boolean isHere;
    private final IntConsumer ask;
    private List<Integer> ports = List.of();
    private int next;
    private int round;
    private Runnable pause = () -> {};

    /**
     * Not begun.
     *
     * @param port that asks
     * @param isHere whether the peer is this host
     * @param ask asks at a UDP port
     */
    PeerSearch(CmPort port, InetAddress peer, boolean isHere, IntConsumer ask) {
        this.port = port;
        this.peer = peer;
        this.isHere = isHere;
        this.ask = ask;
    }

    /** Asks at the first one. */
    void begin() {
        ports = isHere ? HeardPorts.at(peer) : List.of(RocePacket.UDP_PORT);
        next = 0;
        askNext();
    }

    private void askNext() {
        int at = ports.get(next);
        next++;
        ask.accept(at);
        port.send();
    }

    /** It is not there: asks at the next one; false if all were asked often enough. */
    boolean goesOn() {
        if (next < ports.size()) {
            askNext();
            return true;
        }
        round++;
        if (round > ROUNDS) {
            return false;
        }
        pause = port.later(this::begin, PAUSE_NS);
        return true;
    }

    /** Asks no more. */
    void end() {
        pause.run();
    }
}
