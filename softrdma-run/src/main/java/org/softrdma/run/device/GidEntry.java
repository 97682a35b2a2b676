package org.softrdma.run.device;

import java.net.InetAddress;
import java.util.HexFormat;
import org.softrdma.sim.roce.wire.Gid;

/**
 * An entry of a GID table.
 *
 * @param address of this host
 * @param interfaceName of the network interface that has it
 */
public record GidEntry(InetAddress address, String interfaceName) {
    private static final int GROUP = 4;

    /** Its 16 bytes. */
    public Gid gid() {
        return Gid.of(address);
    }

    /** As sysfs writes it: eight groups of four digits. */
    public String text() {
        return groups(gid().high()) + ":" + groups(gid().low());
    }

    /** Four groups of four digits. */
    static String groups(long bytes) {
        String digits = HexFormat.of().toHexDigits(bytes);
        StringBuilder text = new StringBuilder(digits);
        for (int at = digits.length() - GROUP; at > 0; at -= GROUP) {
            text.insert(at, ':');
        }
        return text.toString();
    }
}
