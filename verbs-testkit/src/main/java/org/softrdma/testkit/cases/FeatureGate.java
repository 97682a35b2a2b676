package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.function.Executable;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Node;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.DatagramService;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What a case does on a device that lacks its feature: every way to use the feature is refused with NOT_SUPPORTED and the
 * feature's name, changes nothing, and the limits that belong to it are 0. Only then the case is skipped.
 */
final class FeatureGate {
    private static final int BYTES = 64;

    /** A handle that no device has made. */
    static final AddressHandle NOWHERE = new AddressHandle() {
        @Override
        public ProtectionDomain protectionDomain() {
            throw new IllegalStateException("a handle of no domain");
        }

        @Override
        public InetSocketAddress host() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), QueuePairAddress.PORT);
        }

        @Override
        public void close() {
            // Nothing was opened.
        }
    };

    private FeatureGate() {}

    /** Returns if the device has the feature; else checks the refusals and skips the case. */
    static void require(TwoNodes nodes, Feature feature) {
        VerbsDevice device = nodes.requester().device();
        if (device.capabilities().has(feature)) {
            return;
        }
        LoopbackPair pair = nodes.connect();
        for (Executable use : uses(nodes, pair.requester().queuePair(), feature)) {
            expectRefused(feature, use);
        }
        assertEquals(0, limit(device.capabilities(), feature), "the limit of what the device does not have");
        pair.barrier();
        pair.responder().receives().expectNone("nothing was sent");
        nodes.require(false, "no feature " + feature);
    }

    private static void expectRefused(Feature feature, Executable use) {
        VerbsException refused =
                assertThrows(VerbsException.class, use, "use of " + feature + " on a device without it");
        assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code(), refused.getMessage());
        assertTrue(String.valueOf(refused.getMessage()).contains(feature.name()), refused::getMessage);
    }

    private static int limit(Capabilities capabilities, Feature feature) {
        return switch (feature) {
            case SHARED_RECEIVE_QUEUES -> capabilities.maxSharedReceiveWorkRequests();
            case MEMORY_WINDOWS -> capabilities.maxMemoryWindows();
            case UNRELIABLE_DATAGRAM -> capabilities.maxAddressHandles();
            case CONNECTION_BY_ADDRESS -> capabilities.maxTransferUnit();
            default -> 0;
        };
    }

    private static List<Executable> uses(TwoNodes nodes, QueuePair queuePair, Feature feature) {
        Node node = nodes.requester();
        MemoryRegion region = node.region(BYTES, AccessFlag.READ_SINK);
        return switch (feature) {
            case ATOMICS ->
                List.of(
                        () -> queuePair.postCompareAndSwap(1, region, 0, 0, 0, 0, 0, SendFlags.NONE),
                        () -> queuePair.postFetchAndAdd(1, region, 0, 0, 0, 0, SendFlags.NONE),
                        () -> queuePair.post(new SendWorkRequest()
                                .fetchAndAdd(1, 0, 0, 1, SendFlags.NONE)
                                .add(region, 0, Long.BYTES)),
                        () -> register(node, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC));
            case WRITE_IMMEDIATE ->
                List.of(
                        () -> queuePair.postWriteImmediate(1, region, 0, 1, 0, 0, 7, SendFlags.NONE),
                        () -> queuePair.post(new SendWorkRequest().writeImmediate(1, 0, 0, 7, SendFlags.NONE)));
            case SEND_IMMEDIATE ->
                List.of(
                        () -> queuePair.postSendImmediate(1, region, 0, 1, 7, SendFlags.NONE),
                        () -> queuePair.post(new SendWorkRequest().sendImmediate(1, 7, SendFlags.NONE)));
            case SEND_INVALIDATE ->
                List.of(
                        () -> queuePair.postSendInvalidate(1, region, 0, 1, 7, SendFlags.NONE),
                        () -> queuePair.post(listOfOne(7)));
            case MEMORY_WINDOWS ->
                List.of(
                        () -> node.domain().allocateWindow(),
                        () -> queuePair.postInvalidate(1, region.rkey(), SendFlags.NONE),
                        () -> register(node, AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS));
            case SHARED_RECEIVE_QUEUES -> List.of(() -> node.domain().createSharedReceiveQueue(1, 1));
            case REREGISTRATION ->
                List.of(() -> region.reregister(Reregistration.ofAccess(Set.of(AccessFlag.REMOTE_READ))));
            case QUEUE_RESIZE -> List.of(() -> node.completions(1).queue().resize(2));
            case CONNECTION_BY_ADDRESS -> List.of(() -> create(node, QueuePairType.RELIABLE_CONNECTION));
            case UNRELIABLE_CONNECTION -> List.of(() -> create(node, QueuePairType.UNRELIABLE_CONNECTION));
            case UNRELIABLE_DATAGRAM ->
                List.of(
                        () -> create(node, QueuePairType.UNRELIABLE_DATAGRAM),
                        () -> node.domain().createAddressHandle(NOWHERE.host()),
                        () -> queuePair.postSendTo(1, region, 0, 1, NOWHERE, 17, 0, SendFlags.NONE),
                        () -> queuePair.postSendImmediateTo(1, region, 0, 1, NOWHERE, 17, 0, 7, SendFlags.NONE),
                        () -> queuePair.post(
                                new SendWorkRequest().send(1, SendFlags.NONE).to(NOWHERE, 17, 0)));
            case DATAGRAM_SERVICES ->
                List.of(
                        () -> node.device().resolveDatagrams(NOWHERE.host(), new byte[0], 0),
                        () -> node.device().listenForDatagramRequests(NOWHERE.host(), 1),
                        () -> node.device()
                                .listenForDatagrams(
                                        NOWHERE.host(), new DatagramService(NOWHERE.host(), 17, 0, new byte[0])));
            case ASYNC_EVENTS -> List.of(() -> node.device().awaitEvent(0));
            default -> throw new IllegalArgumentException(feature + ": no call needs it");
        };
    }

    private static void create(Node node, QueuePairType type) {
        node.domain()
                .createQueuePair(QueuePairAttributes.of(node.completions(1).queue(), QueuePairLimits.of(1, 1))
                        .withType(type));
    }

    private static SendWorkRequestList listOfOne(int peersKey) {
        SendWorkRequestList list = new SendWorkRequestList(1);
        list.next().sendInvalidate(1, peersKey, SendFlags.NONE);
        return list;
    }

    private static void register(Node node, AccessFlag... access) {
        MemorySegment memory = node.memory(BYTES);
        node.register(memory, access);
    }
}
