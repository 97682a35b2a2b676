package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.WorkCompletion;

/** A device of a fake library, with what a test needs of it. Closes everything in reverse order and finds what is left. */
final class FakePair implements AutoCloseable {
    static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int ENTRIES = 64;

    final FakeVerbsLibrary library;
    final CoreDevice device;
    final ProtectionDomain domain;
    final CompletionQueue queue;
    private final Deque<AutoCloseable> owned = new ArrayDeque<>();

    FakePair(FakeVerbsLibrary library) {
        this.library = library;
        device = own(open());
        domain = own(device.allocateProtectionDomain());
        queue = own(device.createCompletionQueue(ENTRIES));
    }

    static FakePair roce() {
        return new FakePair(new FakeVerbsLibrary("fake0", false));
    }

    static FakePair iwarp() {
        return new FakePair(new FakeVerbsLibrary("fake-siw0", true));
    }

    /** Another device of the same library. */
    CoreDevice open() {
        return new CoreDevice("fake", library, DeviceList.open(library), library.context(), Optional.empty());
    }

    <T extends AutoCloseable> T own(T resource) {
        owned.push(resource);
        return resource;
    }

    MemoryRegion region(long length, AccessFlag first, AccessFlag... rest) {
        return own(domain.register(own(device.allocateMemory(length)).segment(), EnumSet.of(first, rest)));
    }

    ConnectedPair connect() {
        return own(ConnectedPair.of(device, domain, attributes()));
    }

    ConnectedPair connect(SharedReceiveQueue receives) {
        return own(ConnectedPair.of(device, domain, attributes().withSharedReceives(receives)));
    }

    private QueuePairAttributes attributes() {
        return QueuePairAttributes.of(queue, new QueuePairLimits(8, 8, 2, 2, 64));
    }

    /** The next completion, which must come. */
    WorkCompletion completion() {
        WorkCompletion[] one = WorkCompletion.array(1);
        long startNs = System.nanoTime();
        while (queue.poll(one) == 0) {
            if (System.nanoTime() - startNs > TIMEOUT_NS) {
                throw new AssertionError("no completion in time");
            }
            Thread.onSpinWait();
        }
        return one[0];
    }

    /** The next completion, a success of a queue pair's request. */
    WorkCompletion success(QueuePair of, long wrId) {
        WorkCompletion completion = completion();
        assertEquals(wrId, completion.wrId(), completion::toString);
        assertEquals(of.number(), completion.qpNumber(), completion::toString);
        assertEquals(org.softrdma.verbs.CompletionStatus.SUCCESS, completion.status(), completion::toString);
        return completion;
    }

    @Override
    public void close() {
        while (!owned.isEmpty()) {
            try {
                owned.pop().close();
            } catch (Exception e) {
                throw new AssertionError("cannot close", e);
            }
        }
        assertEquals(0, library.live(), "native objects left");
    }
}
