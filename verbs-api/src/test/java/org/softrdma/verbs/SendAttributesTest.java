package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;

/** What goes with the states of a queue pair is within the bits that packets and drivers have for it. */
class SendAttributesTest {
    private static final SendAttributes SENDS = SendAttributes.ofReads(4);
    private static final ReceiveAttributes RECEIVES = ReceiveAttributes.of(
            new QueuePairAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 4791), 17, 0, 1024), 4);

    private static void expectRange(IntConsumer made, int most) {
        made.accept(0);
        made.accept(most);
        assertThrows(IllegalArgumentException.class, () -> made.accept(-1));
        assertThrows(IllegalArgumentException.class, () -> made.accept(most + 1));
    }

    @Test
    void shouldRefuseWhatHasNoRoom() {
        expectRange(SENDS::withSequence, (1 << 24) - 1);
        expectRange(code -> SENDS.withTimeout(code, 0), 31);
        expectRange(times -> SENDS.withTimeout(0, times), 7);
        expectRange(SENDS::withReceiverNotReadyRetries, 7);
        expectRange(RECEIVES::withReceiverNotReadyTimer, 31);
        assertThrows(IllegalArgumentException.class, () -> SendAttributes.ofReads(-1));
        assertThrows(IllegalArgumentException.class, () -> ReceiveAttributes.of(RECEIVES.peer(), -1));
    }

    @Test
    void shouldKeepWhatIsNotChanged() {
        SendAttributes sends = SENDS.withSequence(5).withTimeout(14, 6).withReceiverNotReadyRetries(7);
        assertEquals(
                new SendAttributes(OptionalInt.of(5), 4, OptionalInt.of(14), OptionalInt.of(6), OptionalInt.of(7)),
                sends.atMost(9));
        assertEquals(3, sends.atMost(3).outboundReads());
        ReceiveAttributes receives = RECEIVES.withReceiverNotReadyTimer(12);
        assertEquals(new ReceiveAttributes(RECEIVES.peer(), 4, OptionalInt.of(12)), receives.atMost(9));
        assertEquals(0, receives.atMost(0).inboundReads());
    }
}
