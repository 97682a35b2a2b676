package org.softrdma.kv.client.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvRefusedException;

class MembershipTest {
    private static final long RETRY_NS = 1000;
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final List<ClusterServer> SERVERS =
            List.of(new ClusterServer("a", 1, 1), new ClusterServer("b", 1, 1), new ClusterServer("c", 1, 1));

    private long nowNs = Long.MAX_VALUE - 500; // a nanosecond clock may run over

    private Membership membership(int ejectAfter) {
        return new Membership(new KvClusterContext(SERVERS).withEjection(ejectAfter, RETRY_NS), () -> nowNs);
    }

    private static void fail(Membership membership, int server, int times) {
        for (int i = 0; i < times; i++) {
            assertThrows(
                    KvException.class,
                    () -> membership.counted(server, () -> {
                        throw new KvException("gone");
                    }));
        }
    }

    @Test
    void shouldEjectAServerThatFailsInARowUntilItsTimeIsOver() {
        Membership membership = membership(3);
        int home = membership.serverOf(KEY);
        fail(membership, home, 2);
        assertEquals(home, membership.serverOf(KEY));
        fail(membership, home, 1);
        assertNotEquals(home, membership.serverOf(KEY));
        assertEquals(List.of(SERVERS.get(home)), membership.ejected());
        nowNs += RETRY_NS - 1;
        assertNotEquals(home, membership.serverOf(KEY));
        nowNs++;
        assertEquals(List.of(), membership.ejected());
        assertEquals(home, membership.serverOf(KEY));
        fail(membership, home, 1); // on probation
        assertNotEquals(home, membership.serverOf(KEY));
        nowNs += RETRY_NS;
        assertEquals(home, membership.serverOf(KEY));
        assertEquals("answer", membership.counted(home, () -> "answer"));
        fail(membership, home, 2);
        assertEquals(home, membership.serverOf(KEY), "an answer ends the probation");
    }

    @Test
    void shouldTakeARefusalForAnAnswer() {
        Membership membership = membership(2);
        int home = membership.serverOf(KEY);
        for (int i = 0; i < 10; i++) {
            fail(membership, home, 1);
            assertThrows(
                    KvRefusedException.class,
                    () -> membership.counted(home, () -> {
                        throw new KvRefusedException("too large");
                    }));
        }
        assertEquals(home, membership.serverOf(KEY));
    }

    @Test
    void shouldBringBackEachServerInItsOwnTime() {
        Membership membership = membership(1);
        fail(membership, 0, 1);
        nowNs += RETRY_NS / 2;
        fail(membership, 1, 1);
        assertEquals(SERVERS.subList(0, 2), membership.ejected());
        assertEquals(2, membership.serverOf(KEY));
        nowNs += RETRY_NS / 2;
        membership.serverOf(KEY);
        assertEquals(SERVERS.subList(1, 2), membership.ejected());
        nowNs += RETRY_NS / 2;
        membership.serverOf(KEY);
        assertEquals(List.of(), membership.ejected());
    }

    @Test
    void shouldNeverEjectTheLastServer() {
        Membership membership = membership(1);
        for (int server = 0; server < SERVERS.size(); server++) {
            fail(membership, server, 5);
        }
        assertEquals(SERVERS.subList(0, 2), membership.ejected());
        assertEquals(2, membership.serverOf(KEY));
    }

    @Test
    void shouldEjectNobodyUnlessAsked() {
        Membership membership = membership(0);
        int home = membership.serverOf(KEY);
        fail(membership, home, 1000);
        assertEquals(home, membership.serverOf(KEY));
        assertEquals(List.of(), membership.ejected());
    }
}
