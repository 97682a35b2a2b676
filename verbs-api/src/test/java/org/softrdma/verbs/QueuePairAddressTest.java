package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.Mockito.mock;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** What peers exchange of a queue pair, and what it is created with, has the bits of the wire. */
class QueuePairAddressTest {
    private static final InetSocketAddress HOST =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), QueuePairAddress.PORT);

    @Test
    void shouldHaveNumbersOf24Bits() {
        for (int number : new int[] {0, 1, 0xFF_FFFF}) {
            assertDoesNotThrow(() -> new QueuePairAddress(HOST, number, number, 1024));
        }
        for (int number : new int[] {-1, 0x100_0000, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> new QueuePairAddress(HOST, number, 0, 1024));
            assertThrows(IllegalArgumentException.class, () -> new QueuePairAddress(HOST, 0, number, 1024));
        }
    }

    @Test
    void shouldHaveATransferUnitOfTheWire() {
        for (int unit : new int[] {256, 512, 1024, 2048, 4096}) {
            assertEquals(unit, new QueuePairAddress(HOST, 1, 2, unit).maxTransferUnit());
        }
        for (int unit : new int[] {0, -1024, 128, 1000, 1500, 8192, 1 << 30}) {
            assertThrows(IllegalArgumentException.class, () -> new QueuePairAddress(HOST, 1, 2, unit));
        }
    }

    @Test
    void shouldRefuseQueueKeysOfTheKernel() {
        QueuePairAttributes attributes = QueuePairAttributes.of(mock(CompletionQueue.class), QueuePairLimits.DEFAULT);
        assertEquals(QueuePairType.RELIABLE_CONNECTION, attributes.type());
        QueuePairAttributes datagrams =
                attributes.withDatagrams(Integer.MAX_VALUE).withRelaxedReads();
        assertEquals(QueuePairType.UNRELIABLE_DATAGRAM, datagrams.type());
        assertEquals(Integer.MAX_VALUE, datagrams.queueKey());
        assertEquals(
                Integer.MAX_VALUE,
                datagrams.withType(QueuePairType.UNRELIABLE_CONNECTION).queueKey());
        assertThrows(IllegalArgumentException.class, () -> attributes.withDatagrams(0x8001_0000));
    }
}
