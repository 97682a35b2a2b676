package org.softrdma.sanitiser.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Reporter;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;

/** What a program of datagrams does wrong, and nothing else, is found. */
class DatagramRulesTest {
    private static final int KEY = 77;
    private static final InetSocketAddress HOST =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), QueuePairAddress.PORT);

    private final List<Finding> found = new ArrayList<>();
    private final Watch watch = Watch.of(new Reporter(EnumSet.allOf(Rule.class), found::add));
    private final AddressHandle handle = mock(AddressHandle.class);
    private final AddressHandleWatch ofHandle = new AddressHandleWatch(watch, handle);
    private final CompletionQueueRecord completions = new CompletionQueueRecord(1000);
    private final QueuePairWatch sender = queuePair(17, QueuePairState.READY_TO_SEND);
    private final QueuePairWatch receiver = queuePair(18, QueuePairState.READY_TO_SEND);

    private QueuePairWatch queuePair(int number, QueuePairState state) {
        UnconnectedQueuePair bare = mock(UnconnectedQueuePair.class);
        when(bare.number()).thenReturn(number);
        when(bare.state()).thenReturn(state);
        when(bare.limits()).thenReturn(QueuePairLimits.DEFAULT);
        when(bare.type()).thenReturn(QueuePairType.UNRELIABLE_DATAGRAM);
        when(bare.address()).thenReturn(new QueuePairAddress(HOST, number, 1, 1024));
        when(handle.host()).thenReturn(HOST);
        return new QueuePairWatch(
                watch,
                "a device",
                new RegionTable(),
                bare,
                new CompletionRoutes(completions, completions, null, false, KEY));
    }

    private void send(QueuePairWatch from, int number, int key, long length, int flags) {
        OutstandingRequest datagram = from.request(SendOpcode.SEND, 1, flags)
                .sentTo(new OutstandingRequest.Datagram(handle, number, key, length));
        assertEquals(PostStatus.ACCEPTED, from.send(datagram, () -> PostStatus.ACCEPTED));
    }

    private void receive(long length) {
        OutstandingRequest request = receiver.receive(2).add(null, 0, length);
        receiver.receive(request, () -> PostStatus.ACCEPTED);
    }

    private void complete(QueuePairWatch of, long wrId) {
        WorkCompletion completion = new WorkCompletion();
        completion.succeeded(wrId, 0, CompletionOpcode.SEND, 0);
        of.completed(completion, completions, found);
    }

    private List<Rule> rules() {
        return found.stream().map(Finding::rule).toList();
    }

    @Test
    void shouldFindNothingWhenADatagramFits() {
        receive(RoutingHeader.LENGTH + 100);
        send(sender, 18, KEY, 100, SendFlags.SIGNALLED);
        send(sender, 18, Integer.MIN_VALUE, 0, SendFlags.SIGNALLED); // its own key, which is the other's, too
        send(sender, 99, KEY + 1, 1000, SendFlags.SIGNALLED); // somebody of another process
        complete(sender, 1);
        complete(sender, 1);
        complete(sender, 1);
        ofHandle.closing();
        assertEquals(List.of(), found);
    }

    /** That nobody has posted a RECV is no fault: the datagram may be lost. */
    @Test
    void shouldAllowADatagramThatFindsNoReceive() {
        send(sender, 18, KEY, 100, SendFlags.SIGNALLED);
        assertEquals(List.of(), found);
    }

    @Test
    void shouldFindAWrongQueueKey() {
        send(sender, 18, KEY + 1, 1, SendFlags.SIGNALLED);
        assertEquals(List.of(Rule.WRONG_QUEUE_KEY), rules());
    }

    @Test
    void shouldFindAReceiveWithoutRoomForTheHeader() {
        receive(RoutingHeader.LENGTH - 1);
        assertEquals(List.of(Rule.RECEIVE_WITHOUT_ROOM_FOR_HEADER), rules());
        found.clear();
        receive(RoutingHeader.LENGTH);
        assertEquals(List.of(), found);
    }

    @Test
    void shouldFindADatagramThatNoReceiveCanTake() {
        receive(RoutingHeader.LENGTH + 100);
        send(sender, 18, KEY, 101, SendFlags.SIGNALLED);
        assertEquals(List.of(Rule.RECEIVE_WITHOUT_ROOM_FOR_HEADER), rules());
    }

    @Test
    void shouldFindAHandleThatIsClosedUnderADatagram() {
        send(sender, 18, KEY, 1, SendFlags.NONE);
        send(sender, 18, KEY, 1, SendFlags.SIGNALLED);
        ofHandle.closing();
        assertEquals(
                List.of(Rule.ADDRESS_HANDLE_CLOSED_WHILE_OUTSTANDING, Rule.ADDRESS_HANDLE_CLOSED_WHILE_OUTSTANDING),
                rules());
        found.clear();
        complete(sender, 1); // and with it the unsignalled one before
        ofHandle.closing();
        assertEquals(List.of(), found);
    }

    @Test
    void shouldAllowClosingAHandleOfWhatIsFlushed() {
        QueuePairWatch broken = queuePair(19, QueuePairState.ERROR);
        send(broken, 18, KEY, 1, SendFlags.SIGNALLED);
        ofHandle.closing();
        assertEquals(List.of(), found);
    }

    @Test
    void shouldForgetAQueuePairThatIsClosed() {
        receiver.closed();
        send(sender, 18, KEY + 1, 1, SendFlags.SIGNALLED);
        assertEquals(List.of(), found);
    }
}
