package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.verbs.SendFlags;

/** A listener on the wildcard of a host whose addresses change: in a network namespace, where this user may have one. */
@Timeout(60)
class RoceAddressesTest {
    private static final String LINK_LOCAL = "fe80::77";
    private static final String LATER = "10.77.0.2";
    private static final List<String> NAMESPACE = List.of("unshare", "-rn");
    private static final int COMMAND_SECONDS = 20;

    private static boolean succeeds(String... command) {
        try {
            Process process = new ProcessBuilder(command).inheritIO().start();
            return process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void shouldHearAtLinkLocalAddressesAndAtThoseThatComeUpLater() {
        boolean allowed = succeeds("unshare", "-rn", "ip", "-6", "addr", "add", LINK_LOCAL + "/64", "dev", "lo");
        Assumptions.assumeTrue(allowed, "needs iproute2, IPv6, and a user who may make network namespaces");
        ChildJvm.Outcome outcome = ChildJvm.run(NAMESPACE, List.of(), RoceAddressesTest.class);
        assertEquals(0, outcome.exitCode(), () -> String.join("\n", outcome.lines()));
    }

    private static void require(String... command) {
        if (!succeeds(command)) {
            throw new IllegalStateException(String.join(" ", command) + " has failed");
        }
    }

    private static void exchange(RoceEnds ends, InetAddress host) {
        ends.connect(host);
        ends.passive.pair().postReceive(1, ends.passive.region, 0, 64);
        ends.active.pair().postSend(2, ends.active.region, 0, 5, SendFlags.NONE);
        assertEquals(5, ends.passive.next().byteLength());
    }

    /**
     * The child. Its exit code says whether it was right.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) throws Exception {
        require("ip", "link", "set", "lo", "up");
        require("ip", "-6", "addr", "add", LINK_LOCAL + "/64", "dev", "lo", "nodad");
        try {
            RoceEnds ends = new RoceEnds("epoll", Map.of()).listenAt(InetAddress.ofLiteral("::"));
            exchange(ends, InetAddress.getByName(LINK_LOCAL + "%lo"));
            require("ip", "addr", "add", LATER + "/32", "dev", "lo");
            exchange(ends, InetAddress.ofLiteral(LATER));
        } catch (Throwable e) {
            e.printStackTrace(System.out);
            System.exit(1);
        }
        System.exit(0);
    }
}
