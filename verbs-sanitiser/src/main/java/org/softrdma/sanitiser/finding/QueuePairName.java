package org.softrdma.sanitiser.finding;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair, as far as the sanitiser knows it.
 *
 * @param device name of its device; null if no device of this sanitiser has it
 * @param number its number there; null if no device of this sanitiser has it
 * @param address of its end of the connection; null if the provider does not tell
 */
public record QueuePairName(
        @Nullable String device,
        @Nullable Integer number,
        @Nullable InetSocketAddress address) {
    /** For people. */
    @Override
    public String toString() {
        String at = address == null ? " at an address that the provider does not tell" : " at " + text(address);
        return number == null
                ? "a queue pair outside of this sanitiser" + at
                : "queue pair " + number + " of " + device + at;
    }

    private static String text(InetSocketAddress address) {
        return address.isUnresolved()
                ? address.toString()
                : address.getAddress().getHostAddress() + ":" + address.getPort();
    }
}
