package org.softrdma.kv.server.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class StrangersTest {
    private final Strangers strangers = new Strangers();

    @Test
    void shouldLeavePlacesForOtherAddresses() {
        assertEquals(Strangers.MOST_OF_ADDRESS, enter(1, 1000));
        assertTrue(strangers.enter(address(2)));
        strangers.leave(address(1));
        assertEquals(1, enter(1, 1000));
    }

    @Test
    void shouldNotLetManyAddressesTakeMore() {
        int entered = 0;
        for (int i = 0; i < 200; i++) {
            entered += enter(i, 1);
        }
        assertEquals(Strangers.MOST, entered);
        strangers.leave(address(7));
        assertTrue(strangers.enter(address(250)));
        assertFalse(strangers.enter(address(251)));
    }

    private int enter(int number, int most) {
        int entered = 0;
        while (entered < most && strangers.enter(address(number))) {
            entered++;
        }
        return entered;
    }

    private static InetAddress address(int number) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) number});
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
