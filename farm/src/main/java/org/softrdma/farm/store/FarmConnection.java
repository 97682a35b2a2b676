package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.ObjectLines;
import org.softrdma.farm.ring.RingBox;
import org.softrdma.farm.ring.RingEnd;
import org.softrdma.farm.table.FarmPairDescriptor;
import org.softrdma.farm.table.TableShape;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.Greeting;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client's connection, for as long as it holds: what the server has told, the rings, and a place in memory for the READ
 * of each operation. READs are numbered by their operation. The client's thread.
 */
final class FarmConnection implements AutoCloseable {
    private static final int COMPLETIONS = 16;
    private static final long HELLO = Long.MAX_VALUE;
    private static final long WELCOME = HELLO - 1;

    private final StoreClientContext context;
    private final StoreCounters counters;
    private final OpenParts open = new OpenParts();
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final WorkCompletion[] completions = WorkCompletion.array(COMPLETIONS);
    private final FarmWelcomeDescriptor.Welcome welcome;
    private final MemoryRegion sinks;
    private final MemorySegment sinkMemory;
    private final int sinkLength;
    private final RingEnd rings;

    /**
     * Connects.
     *
     * @param device of the client
     * @param context of the client
     * @param counters counts what is posted
     * @throws StoreException if the server refuses, or tells what cannot be
     */
    FarmConnection(VerbsDevice device, StoreClientContext context, StoreCounters counters) {
        this.context = context;
        this.counters = counters;
        try {
            ProtectionDomain domain = open.add(device.allocateProtectionDomain());
            int sends = context.window() + RingEnd.MOST_WRITES + 1;
            queue = open.add(device.createCompletionQueue(sends + 1));
            RingBox inbox = RingBox.inbox(device, domain, FarmHelloDescriptor.REPLY_RING);
            open.add(inbox);
            MemoryRegion region = open.add(new RegisteredMemory(
                            device,
                            domain,
                            FarmHelloDescriptor.LENGTH + (long) FarmWelcomeDescriptor.LONGEST,
                            Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK)))
                    .region();
            Connector connector = open.add(device.resolve(context.servers().getFirst(), context.connectTimeoutNs()));
            pair = open.add(
                    connector.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(sends, 1))));
            welcome = greet(connector, region, inbox);
            RingBox outbox = RingBox.outbox(device, domain, welcome.ring());
            open.add(outbox);
            rings = new RingEnd(inbox, outbox, pair, welcome.inbox(), context.protocol() == Protocol.SAFE, counters);
            sinkLength = longestRead();
            RegisteredMemory memoryOfSinks = open.add(new RegisteredMemory(
                    device,
                    domain,
                    (long) sinkLength * context.window(),
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK)));
            sinkMemory = memoryOfSinks.segment();
            sinks = memoryOfSinks.region();
        } catch (RuntimeException e) {
            open.close();
            throw e;
        }
    }

    // ---- hello and welcome

    private FarmWelcomeDescriptor.Welcome greet(Connector connector, MemoryRegion region, RingBox inbox) {
        long untilNs = context.nanoClock().nanoTime() + context.connectTimeoutNs();
        ByteBuffer hello = part(region, 0, FarmHelloDescriptor.LENGTH);
        ByteBuffer welcomed = part(region, FarmHelloDescriptor.LENGTH, FarmWelcomeDescriptor.LONGEST);
        pair.postReceive(WELCOME, region, FarmHelloDescriptor.LENGTH, FarmWelcomeDescriptor.LONGEST);
        FarmHelloDescriptor.write(hello, context.protocol(), inbox.region().remote());
        byte[] ignored = connector.connect(ConnectionParameters.DEFAULT, context.connectTimeoutNs());
        Greeting.requireAccepted(pair.postSend(HELLO, region, 0, FarmHelloDescriptor.LENGTH, SendFlags.SIGNALLED));
        counters.increment(StoreCounter.SENDS);
        long length = Greeting.await(queue, context, untilNs, one -> one.wrId() == WELCOME ? one.byteLength() : null);
        if (!FarmWelcomeDescriptor.isValid(welcomed, length)) {
            throw new StoreException("the server at " + context.servers().getFirst() + " does not speak "
                    + context.protocol() + " of this version of FaRM's store");
        }
        return checked(FarmWelcomeDescriptor.read(welcomed));
    }

    private static ByteBuffer part(MemoryRegion region, long offset, long length) {
        return region.memory().asSlice(offset, length).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    private FarmWelcomeDescriptor.Welcome checked(FarmWelcomeDescriptor.Welcome told) {
        if (told.maxKeyLength() < context.maxKeyLength() || told.maxValueLength() < context.maxValueLength()) {
            throw new StoreException("keys of " + context.maxKeyLength() + " and values of "
                    + context.maxValueLength() + " bytes: the server takes up to " + told.maxKeyLength() + " and "
                    + told.maxValueLength());
        }
        return told;
    }

    // ---- READs

    private int longestRead() {
        TableShape shape = welcome.shape();
        int longest =
                Math.max(2 * shape.stride(), shape.lengthInMemory(shape.block().length()));
        if (!shape.inline()) {
            int pairLength = FarmPairDescriptor.length(welcome.maxKeyLength(), welcome.maxValueLength());
            longest = Math.max(longest, shape.lengthInMemory(pairLength));
        }
        return longest + ObjectLines.LINE - 1 & -ObjectLines.LINE;
    }

    /** Longest READ. */
    int sinkLength() {
        return sinkLength;
    }

    /**
     * READs into the place of an operation.
     *
     * @param operation its number
     * @param address what to READ
     * @param length bytes, at most {@link #sinkLength}
     * @return false if there is no such region
     */
    boolean read(int operation, long address, int length) {
        int number = FarmAddress.region(address);
        if (number < 0 || number >= welcome.regions().size()) {
            return false;
        }
        RemoteRegion remote = welcome.regions().get(number);
        PostStatus status = pair.postRead(
                operation,
                sinks,
                sinkOf(operation),
                length,
                remote.address() + FarmAddress.offset(address),
                remote.rkey(),
                SendFlags.SIGNALLED);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException("the send queue is smaller than the window");
        }
        counters.increment(StoreCounter.READS);
        counters.increment(StoreCounter.ROUND_TRIPS);
        counters.add(StoreCounter.READ_BYTES, length);
        return true;
    }

    /** The memory that READs go to. */
    MemorySegment sinkMemory() {
        return sinkMemory;
    }

    /** Where that of an operation is. */
    long sinkOf(int operation) {
        return (long) operation * sinkLength;
    }

    // ---- state

    /** What has completed; at most as many as {@link #completions} has. */
    int poll() {
        return queue.poll(completions);
    }

    WorkCompletion[] completions() {
        return completions;
    }

    boolean isBroken() {
        return pair.state() == QueuePairState.ERROR;
    }

    FarmWelcomeDescriptor.Welcome welcome() {
        return welcome;
    }

    RingEnd rings() {
        return rings;
    }

    @Override
    public void close() {
        pair.close(); // then nothing is written any more
        open.close();
    }
}
