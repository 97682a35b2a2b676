package org.softrdma.run.card;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ScriptedKernel;

class CardTest {
    private static final InetAddress FIRST = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress SECOND = InetAddress.ofLiteral("127.0.0.2");

    private final ScriptedKernel kernel = new ScriptedKernel();

    private Card opened() throws CallRefusedException {
        RxeDevice shown = RxeDevice.of(List.of(new GidEntry(FIRST, "lo"), new GidEntry(SECOND, "lo")), 1500);
        Card card = new Card(shown, kernel.listener(), CardSettings.usual());
        card.allocateDomain().close();
        return card;
    }

    private static int port(Card card, InetAddress at) throws CallRefusedException {
        return card.managerAt(at).localAddress().getPort();
    }

    @Test
    void shouldHaveItsPortAtAllAddressesFromItsFirstObjectOn() throws Exception {
        Card card = opened();
        int port = port(card, FIRST);
        try (DatagramChannel other = DatagramChannel.open()) {
            assertThrows(BindException.class, () -> other.bind(new InetSocketAddress(SECOND, port)));
        }
        card.close();
    }

    @Test
    void shouldTakeAnotherPortThanTheOneThatIsTakenAtAnAddress() throws Exception {
        Card first = opened();
        Card second = opened();
        assertEquals(port(second, FIRST), port(second, SECOND));
        assertEquals(port(first, FIRST), port(first, SECOND));
        first.close();
        second.close();
    }
}
