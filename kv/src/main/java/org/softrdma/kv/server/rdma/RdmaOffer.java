package org.softrdma.kv.server.rdma;

import java.nio.charset.StandardCharsets;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.server.memory.DeviceArenas;

/** What the server tells clients that want to READ: where to connect, and what locators name. Any thread. */
public final class RdmaOffer {
    private static final String END = new String(TextProtocol.END, StandardCharsets.US_ASCII);

    private final Admission admission;
    private final DeviceArenas<?> arenas;
    private final String registration;
    private final String beforeToken;
    private final String behindToken;

    /**
     * The offer of a server.
     *
     * @param admission who may have a queue pair
     * @param arenas what locators name
     * @param registration how items are registered, as the protocol calls it
     * @param port where queue pairs are connected
     * @param bootId a number that changes with each start
     */
    public RdmaOffer(Admission admission, DeviceArenas<?> arenas, String registration, int port, String bootId) {
        this.admission = admission;
        this.arenas = arenas;
        this.registration = registration;
        this.beforeToken = "RDMA " + HelloDescriptor.VERSION + " " + port + " ";
        this.behindToken =
                " " + bootId + " " + registration + " " + admission.tokenPlace().word();
    }

    /** Decides who may have a queue pair. */
    public Admission admission() {
        return admission;
    }

    /** {@code RDMA 2 <port> <token> <bootId> <arena|chunk> <private-data|send>}. */
    public byte[] helloLine(String token) {
        return TextProtocol.line(beforeToken + token + behindToken);
    }

    /** What locators may name: lines as the registration has them, and END. */
    public byte[] arenaLines() {
        return (arenas.lines() + END).getBytes(StandardCharsets.US_ASCII);
    }

    /** How items are registered, as the protocol calls it. */
    public String registration() {
        return registration;
    }

    /** Memory regions that items take. */
    public long itemRegions() {
        return arenas.regions();
    }
}
