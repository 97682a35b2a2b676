package org.softrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeptPortsTest {
    private static final int SOME = 500;

    @Test
    void shouldTakeNoneThatTheSystemGivesAway() throws IOException {
        Set<Integer> given = new HashSet<>();
        List<ServerSocket> open = new ArrayList<>();
        try {
            for (int i = 0; i < SOME; i++) {
                ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                open.add(any);
                given.add(any.getLocalPort());
            }
        } finally {
            for (ServerSocket socket : open) {
                socket.close();
            }
        }
        int lowest = given.stream().mapToInt(Integer::intValue).min().orElseThrow();
        int highest = given.stream().mapToInt(Integer::intValue).max().orElseThrow();
        for (int i = 0; i < SOME; i++) {
            int kept = KeptPorts.next();
            assertTrue(kept < lowest || kept > highest, kept + " is between " + lowest + " and " + highest);
        }
    }

    @Test
    void shouldTakeFreeOnes() throws IOException {
        int port = KeptPorts.next();
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            assertTrue(socket.isBound());
            for (int i = 0; i < SOME; i++) {
                assertFalse(KeptPorts.next() == port, "in use");
            }
        }
    }
}
