package org.softrdma.kv.server;

import java.nio.charset.StandardCharsets;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.message.HelloDescriptor;

/** What the server tells clients that want to READ: where to connect, and what locators name. Any thread. */
final class RdmaOffer {
    private static final String END = new String(TextProtocol.END, StandardCharsets.US_ASCII);

    private final Admission admission;
    private final DeviceArenas<?> arenas;
    private final String beforeToken;
    private final String behindToken;

    /**
     * The offer of a server.
     *
     * @param port where queue pairs are connected
     * @param bootId another one after each start
     */
    RdmaOffer(KvServerContext context, Admission admission, DeviceArenas<?> arenas, int port, String bootId) {
        this.admission = admission;
        this.arenas = arenas;
        this.beforeToken = "RDMA " + HelloDescriptor.VERSION + " " + port + " ";
        this.behindToken = " " + bootId + " " + context.items().registration().word() + " "
                + admission.tokenPlace().word();
    }

    /** Who may come. */
    Admission admission() {
        return admission;
    }

    /** {@code RDMA 2 <port> <token> <bootId> <arena|chunk> <private-data|send>}. */
    byte[] helloLine(String token) {
        return TextProtocol.line(beforeToken + token + behindToken);
    }

    /** What locators may name: lines as the registration has them, and END. */
    byte[] arenaLines() {
        return (arenas.lines() + END).getBytes(StandardCharsets.US_ASCII);
    }
}
