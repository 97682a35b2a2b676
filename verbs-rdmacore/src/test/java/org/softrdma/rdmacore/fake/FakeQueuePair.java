package org.softrdma.rdmacore.fake;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.ibverbs.device.CompletionCodes;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;

/**
 * An {@code ibv_qp} that runs its requests when they are posted, or when the peer's RECV is. Under the fake's lock.
 */
final class FakeQueuePair {
    private static final int VENDOR_ERROR = 0x99;
    private static final int HEADER = 40;

    /** A piece of local memory. */
    record Piece(long address, int length, int lkey) {}

    /** Where a datagram goes. */
    record Datagram(FakeAddresses.Way way, int number, int key) {}

    /** A send work request or RECV, copied at the post. */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Work(
            long wrId,
            int opcode,
            int flags,
            int immediate,
            long remoteAddress,
            int rkey,
            long compareAdd,
            long swap,
            FakeWindows.@Nullable Bind bind,
            @Nullable Datagram datagram,
            List<Piece> pieces,
            byte[] inline) {
        int length() {
            return pieces.stream().mapToInt(Piece::length).sum();
        }

        boolean takesReceive() {
            return switch (opcode) {
                case WorkRequestAbi.OPCODE_SEND,
                        WorkRequestAbi.OPCODE_SEND_IMMEDIATE,
                        WorkRequestAbi.OPCODE_SEND_INVALIDATE,
                        WorkRequestAbi.OPCODE_WRITE_IMMEDIATE -> true;
                default -> false;
            };
        }

        boolean isAtomic() {
            return opcode == WorkRequestAbi.OPCODE_COMPARE_AND_SWAP || opcode == WorkRequestAbi.OPCODE_FETCH_AND_ADD;
        }

        /** With what only datagrams have. */
        Work to(Datagram where) {
            return new Work(wrId, opcode, flags, immediate, 0, 0, compareAdd, swap, bind, where, pieces, inline);
        }

        /** What librxe refuses when it is posted. */
        boolean isRefused() {
            return (isAtomic() && (remoteAddress % Long.BYTES != 0 || length() < Long.BYTES))
                    || (bind != null && (immediate != 0 || !pieces.isEmpty()));
        }
    }

    final long pointer = FakeMemory.allocate(160);
    final long domain;
    private final FakeVerbsLibrary library;
    private final FakeQueue sendQueue;
    private final FakeQueue receiveQueue;
    private final @Nullable FakeSharedQueue shared;
    private final ArrayDeque<Work> sends = new ArrayDeque<>();
    private final ArrayDeque<Work> receives = new ArrayDeque<>();
    /** What was posted in SQD. */
    private final ArrayDeque<Work> held = new ArrayDeque<>();

    private final int number;
    private final int type;
    private int queueKey;
    /** The peer's number, of one that the application has connected; 0 before. */
    private int destination;

    private int state;
    /** What the peer may do by any key; rdma_cm allows everything. */
    private int access = -1;
    /** The application was told that it is drained. */
    private boolean told;

    @Nullable
    FakeQueuePair peer;

    private boolean connected;
    private boolean error;

    FakeQueuePair(
            FakeVerbsLibrary library,
            int number,
            int type,
            long domain,
            FakeQueue sendQueue,
            FakeQueue receiveQueue,
            @Nullable FakeSharedQueue shared) {
        this.library = library;
        this.number = number;
        this.type = type;
        this.domain = domain;
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
        this.shared = shared;
        CMemory.putLong(pointer + VerbsAbi.QUEUE_PAIR_SHARED_QUEUE, shared == null ? 0 : shared.pointer);
        CMemory.putLong(pointer + VerbsAbi.QUEUE_PAIR_DOMAIN, domain);
        CMemory.putLong(pointer + VerbsAbi.QUEUE_PAIR_SEND_QUEUE, sendQueue.pointer);
        CMemory.putLong(pointer + VerbsAbi.QUEUE_PAIR_RECEIVE_QUEUE, receiveQueue.pointer);
        CMemory.putInt(pointer + VerbsAbi.QUEUE_PAIR_NUMBER, number);
        CMemory.putInt(pointer + VerbsAbi.QUEUE_PAIR_TYPE, type);
    }

    int number() {
        return number;
    }

    boolean isOfDatagrams() {
        return type == VerbsAbi.UNRELIABLE_DATAGRAM;
    }

    /** Attributes that an application changes without a move; false if it cannot. */
    boolean change(long attributes, int mask) {
        boolean rights = mask == VerbsAbi.ACCESS_ONLY
                && !isOfDatagrams()
                && (state == VerbsAbi.STATE_INIT
                        || state == VerbsAbi.STATE_READY_TO_SEND
                        || state == VerbsAbi.STATE_DRAIN);
        if (rights) {
            access = CMemory.getInt(attributes + VerbsAbi.MODIFY_ACCESS);
        }
        return rights || (mask == VerbsAbi.RELIABLE_IN_DRAIN && state == VerbsAbi.STATE_DRAIN);
    }

    private void reset() {
        sends.clear();
        held.clear();
        receives.clear();
        error = false;
        destination = 0;
        state = VerbsAbi.STATE_RESET;
    }

    /** To RESET, to SQD, or back from SQD; false if it is none of these. */
    private boolean moveAside(int to, int mask) {
        if (to == VerbsAbi.STATE_RESET && mask == VerbsAbi.MODIFY_STATE) {
            reset();
            return true;
        }
        if (to == VerbsAbi.STATE_DRAIN && state == VerbsAbi.STATE_READY_TO_SEND && mask == VerbsAbi.TO_DRAIN) {
            state = to;
            told = false;
            tellDrained();
            return true;
        }
        if (to == VerbsAbi.STATE_READY_TO_SEND && state == VerbsAbi.STATE_DRAIN && mask == VerbsAbi.MODIFY_STATE) {
            state = to;
            sends.addAll(held);
            held.clear();
            run();
            return true;
        }
        return false;
    }

    private void tellDrained() {
        if (state == VerbsAbi.STATE_DRAIN && !told && sends.isEmpty()) {
            told = true;
            library.raise(VerbsAbi.EVENT_SQ_DRAINED, pointer);
        }
    }

    /** The move that an application makes; false if it is none. */
    boolean move(int to, long attributes, int mask) {
        if (moveAside(to, mask)) {
            return true;
        }
        boolean reliable = type == VerbsAbi.RELIABLE_CONNECTION;
        int needed = switch (to) {
            case VerbsAbi.STATE_INIT -> isOfDatagrams() ? VerbsAbi.DATAGRAM_TO_INIT : VerbsAbi.CONNECTION_TO_INIT;
            case VerbsAbi.STATE_READY_TO_RECEIVE ->
                isOfDatagrams()
                        ? VerbsAbi.MODIFY_STATE
                        : reliable ? VerbsAbi.RELIABLE_TO_RTR : VerbsAbi.UNRELIABLE_TO_RTR;
            case VerbsAbi.STATE_READY_TO_SEND -> reliable ? VerbsAbi.RELIABLE_TO_RTS : VerbsAbi.UNRELIABLE_TO_RTS;
            default -> 0;
        };
        if (needed == 0 || mask != needed || to != state + 1) {
            return false;
        }
        if (to == VerbsAbi.STATE_INIT) {
            queueKey = CMemory.getInt(attributes + VerbsAbi.MODIFY_QKEY);
            access = CMemory.getInt(attributes + VerbsAbi.MODIFY_ACCESS);
        }
        if (to == VerbsAbi.STATE_READY_TO_RECEIVE && !isOfDatagrams()) {
            if (FakeAddresses.way(attributes + VerbsAbi.MODIFY_AV) == null) {
                return false;
            }
            destination = CMemory.getInt(attributes + VerbsAbi.MODIFY_DEST_QPN);
        }
        state = to;
        return true;
    }

    /** The other end, if this one has one and is one for it. */
    private @Nullable FakeQueuePair other() {
        return peer != null || destination == 0 ? peer : library.find(destination, each -> each.destination == number);
    }

    boolean takes(int key) {
        return isOfDatagrams() && !error && queueKey == key;
    }

    void connect(FakeQueuePair other) {
        peer = other;
        connected = true;
    }

    boolean isInError() {
        return error;
    }

    /** Copies a work request; a negative opcode stands for a RECV. */
    static Work copy(long request, int opcode, long entries, int count, int flags) {
        List<Piece> pieces = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long at = CMemory.getLong(request + entries) + i * WorkRequestAbi.ENTRY_BYTES;
            pieces.add(new Piece(
                    CMemory.getLong(at + WorkRequestAbi.ENTRY_ADDRESS),
                    CMemory.getInt(at + WorkRequestAbi.ENTRY_LENGTH),
                    CMemory.getInt(at + WorkRequestAbi.ENTRY_LKEY)));
        }
        byte[] inline = {};
        if ((flags & SendFlags.INLINE) != 0) {
            java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
            pieces.forEach(piece -> bytes.writeBytes(CMemory.getBytes(piece.address, piece.length)));
            inline = bytes.toByteArray();
        }
        long wrId = CMemory.getLong(request + WorkRequestAbi.SEND_WR_ID);
        if (opcode < 0) {
            return new Work(wrId, opcode, flags, 0, 0, 0, 0, 0, null, null, pieces, inline);
        }
        boolean atomic =
                opcode == WorkRequestAbi.OPCODE_COMPARE_AND_SWAP || opcode == WorkRequestAbi.OPCODE_FETCH_AND_ADD;
        return new Work(
                wrId,
                opcode,
                flags,
                CMemory.getInt(request + WorkRequestAbi.SEND_IMMEDIATE),
                CMemory.getLong(request + WorkRequestAbi.SEND_REMOTE_ADDRESS),
                CMemory.getInt(request + (atomic ? WorkRequestAbi.SEND_ATOMIC_RKEY : WorkRequestAbi.SEND_RKEY)),
                atomic ? CMemory.getLong(request + WorkRequestAbi.SEND_COMPARE_ADD) : 0,
                atomic ? CMemory.getLong(request + WorkRequestAbi.SEND_SWAP) : 0,
                opcode == WorkRequestAbi.OPCODE_BIND_WINDOW ? bind(request) : null,
                null,
                pieces,
                inline);
    }

    private static FakeWindows.Bind bind(long request) {
        long region = CMemory.getLong(request + WorkRequestAbi.SEND_WINDOW_REGION);
        long window = CMemory.getLong(request + WorkRequestAbi.SEND_WINDOW);
        return new FakeWindows.Bind(
                window,
                CMemory.getInt(window + VerbsAbi.WINDOW_RKEY),
                CMemory.getInt(request + WorkRequestAbi.SEND_WINDOW_RKEY),
                CMemory.getInt(region + VerbsAbi.REGION_LKEY),
                CMemory.getLong(request + WorkRequestAbi.SEND_WINDOW_ADDRESS),
                CMemory.getLong(request + WorkRequestAbi.SEND_WINDOW_LENGTH),
                CMemory.getInt(request + WorkRequestAbi.SEND_WINDOW_ACCESS));
    }

    void postSend(Work work) {
        if (error && library.iwarp()) {
            return; // siw: nothing posted after ERROR ever completes
        }
        if (state == VerbsAbi.STATE_DRAIN && !error) {
            held.addLast(work);
            return;
        }
        sends.addLast(work);
        run();
    }

    void postReceive(Work work) {
        if (error && library.iwarp()) {
            return;
        }
        receives.addLast(work); // rxe: in ERROR nobody looks, until told to go to ERROR
        receivePosted();
    }

    boolean shares(FakeSharedQueue queue) {
        return shared == queue;
    }

    /** The peer's first request may have waited for it. */
    void receivePosted() {
        FakeQueuePair other = other();
        if (!error && other != null) {
            other.run();
        }
    }

    /** Goes to ERROR, or looks again, and flushes. */
    void fail() {
        if (!error && shared != null) {
            library.raise(VerbsAbi.EVENT_QP_LAST_WQE_REACHED, pointer);
        }
        error = true;
        sends.addAll(held);
        held.clear();
        while (!sends.isEmpty()) {
            Work work = library.iwarp() ? sends.removeLast() : sends.removeFirst(); // siw keeps no order here
            complete(sendQueue, work, CompletionStatus.FLUSHED, 0, false);
        }
        while (!receives.isEmpty()) {
            complete(receiveQueue, receives.removeFirst(), CompletionStatus.FLUSHED, 0, false);
        }
        if (connected && library.iwarp()) {
            connected = false;
            library.connectionLost(this); // siw: the end of a queue pair is the end of its TCP connection
        }
    }

    void gone() {
        FakeQueuePair other = peer;
        if (other != null) {
            other.peer = null;
        }
        peer = null;
        library.windows().gone(this);
        sends.clear();
        receives.clear();
    }

    private void run() {
        if (error) {
            fail();
        }
        while (type != VerbsAbi.RELIABLE_CONNECTION && !sends.isEmpty() && !error) {
            runUnreliably(sends.getFirst());
        }
        while (!sends.isEmpty() && !error) {
            FakeQueuePair other = other();
            if (other == null || (other.error && !sends.getFirst().takesReceive())) {
                failWith(sendQueue, sends, CompletionStatus.RETRY_EXCEEDED_ERROR);
                return;
            }
            if (!execute(sends.getFirst(), other)) {
                return;
            }
        }
        tellDrained();
    }

    /** It succeeds, whatever becomes of it at the other end. */
    private void runUnreliably(Work work) {
        if (work.opcode == WorkRequestAbi.OPCODE_INVALIDATE || work.opcode == WorkRequestAbi.OPCODE_BIND_WINDOW) {
            var _ = execute(work, this);
            return;
        }
        byte @Nullable [] data = work.inline.length > 0 ? work.inline : library.gather(domain, work.pieces, 0);
        if (data == null) {
            failWith(sendQueue, sends, CompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        Datagram datagram = work.datagram;
        if (datagram != null) {
            int key = datagram.key; // rxe puts no other in place of a negative one
            FakeQueuePair to = library.find(datagram.number, each -> each.takes(key));
            byte[] whole = new byte[HEADER + data.length];
            System.arraycopy(datagram.way.header(), 0, whole, 0, HEADER);
            System.arraycopy(data, 0, whole, HEADER, data.length);
            if (to != null) {
                to.deliver(work, whole, number);
            }
        } else {
            FakeQueuePair to = other();
            if (to != null) {
                to.deliver(work, data, 0);
            }
        }
        sends.removeFirst();
        succeed(work, data.length);
    }

    /** Takes a message, or drops it. */
    private void deliver(Work work, byte[] data, int source) {
        boolean writes =
                work.opcode == WorkRequestAbi.OPCODE_WRITE || work.opcode == WorkRequestAbi.OPCODE_WRITE_IMMEDIATE;
        Work receive = work.takesReceive() ? waiting().peekFirst() : null;
        if (error || (work.takesReceive() && receive == null)) {
            return;
        }
        if (writes && (access & RegionRights.REMOTE_WRITE) == 0) {
            return;
        }
        if (writes) {
            long memory = data.length == 0
                    ? 1
                    : library.translate(this, work.remoteAddress, data.length, work.rkey, RegionRights.REMOTE_WRITE);
            if (memory == 0) {
                return;
            }
            if (data.length > 0) {
                CMemory.putBytes(memory, data);
            }
        } else if (receive == null || receive.length() < data.length) {
            return;
        } else {
            scatter(receiveDomain(), receive.pieces, data, library);
        }
        if (receive != null) {
            takeReceive();
            int opcode = writes ? CompletionCodes.RECEIVE_WRITE_IMMEDIATE : CompletionCodes.RECEIVE;
            received(receive, opcode, data.length, work, source);
        }
    }

    private boolean execute(Work work, FakeQueuePair other) {
        return switch (work.opcode) {
            case WorkRequestAbi.OPCODE_INVALIDATE ->
                done(
                        work,
                        library.windows().invalidate(this, work.immediate),
                        CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
            case WorkRequestAbi.OPCODE_BIND_WINDOW ->
                done(work, library.bind(this, work), CompletionStatus.MEMORY_WINDOW_BIND_ERROR);
            default -> transfer(work, other);
        };
    }

    private boolean done(Work work, boolean success, CompletionStatus otherwise) {
        if (!success) {
            failWith(sendQueue, sends, otherwise);
            return false;
        }
        sends.removeFirst();
        succeed(work, 0);
        return true;
    }

    private boolean transfer(Work work, FakeQueuePair other) {
        boolean fetches = work.opcode == WorkRequestAbi.OPCODE_READ || work.isAtomic();
        int access = fetches ? RegionRights.LOCAL_WRITE : 0;
        byte @Nullable [] data = work.inline.length > 0 ? work.inline : null;
        if (data == null) {
            data = library.gather(domain, work.pieces, access);
        }
        if (data == null) {
            failWith(sendQueue, sends, CompletionStatus.LOCAL_PROTECTION_ERROR);
            return false;
        }
        boolean writesAndTells = work.opcode == WorkRequestAbi.OPCODE_WRITE_IMMEDIATE;
        if (work.takesReceive() && !writesAndTells) {
            return send(work, other, data);
        }
        if ((other.access & right(work)) == 0) {
            failWith(sendQueue, sends, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
            other.fail();
            return false;
        }
        if (writesAndTells && other.waiting().isEmpty()) {
            return false;
        }
        long memory = data.length == 0
                ? 1
                : library.translate(other, work.remoteAddress, data.length, work.rkey, right(work));
        if (memory == 0) {
            failWith(
                    sendQueue,
                    sends,
                    library.iwarp() ? CompletionStatus.FLUSHED : CompletionStatus.REMOTE_ACCESS_ERROR);
            other.fail();
            return false;
        }
        if (fetches) {
            byte[] was = CMemory.getBytes(memory, data.length);
            if (work.isAtomic()) {
                change(work, memory);
            }
            scatter(domain, work.pieces, was, library);
        } else if (data.length > 0) {
            CMemory.putBytes(memory, data);
        }
        if (writesAndTells) {
            other.received(other.takeReceive(), CompletionCodes.RECEIVE_WRITE_IMMEDIATE, data.length, work);
        }
        sends.removeFirst();
        succeed(work, data.length);
        return true;
    }

    private static int right(Work work) {
        if (work.isAtomic()) {
            return RegionRights.REMOTE_ATOMIC;
        }
        return work.opcode == WorkRequestAbi.OPCODE_READ ? RegionRights.REMOTE_READ : RegionRights.REMOTE_WRITE;
    }

    private static void change(Work work, long memory) {
        long was = CMemory.getLong(memory);
        if (work.opcode == WorkRequestAbi.OPCODE_FETCH_AND_ADD) {
            CMemory.putLong(memory, was + work.compareAdd);
        } else if (was == work.compareAdd) {
            CMemory.putLong(memory, work.swap);
        }
    }

    // ---- RECVs, its own or shared ones

    private ArrayDeque<Work> waiting() {
        return shared == null ? receives : shared.waiting();
    }

    private Work takeReceive() {
        return shared == null ? receives.removeFirst() : shared.take();
    }

    private long receiveDomain() {
        return shared == null ? domain : shared.domain;
    }

    /** A RECV is done; what the request carried besides is told by flags. */
    private void received(Work receive, int opcode, int length, Work by) {
        received(receive, opcode, length, by, 0);
    }

    private void received(Work receive, int opcode, int length, Work by, int source) {
        int flags = switch (by.opcode) {
            case WorkRequestAbi.OPCODE_SEND_IMMEDIATE, WorkRequestAbi.OPCODE_WRITE_IMMEDIATE ->
                CompletionCodes.WITH_IMMEDIATE;
            case WorkRequestAbi.OPCODE_SEND_INVALIDATE -> CompletionCodes.WITH_INVALIDATED_KEY;
            default -> 0;
        };
        int header = by.datagram == null ? 0 : CompletionCodes.WITH_ROUTING_HEADER;
        receiveQueue.add(
                new FakeQueue.Entry(receive.wrId, 0, opcode, 0, length, number, flags | header, by.immediate, source),
                (by.flags & SendFlags.SOLICITED) != 0);
    }

    private boolean send(Work work, FakeQueuePair other, byte[] data) {
        if (other.waiting().isEmpty()) {
            if (library.iwarp()) {
                sends.removeFirst();
                succeed(work, data.length);
                fail();
            }
            return false;
        }
        Work receive = other.waiting().getFirst();
        if (receive.length() < data.length) {
            return refuse(
                    other,
                    CompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                    CompletionStatus.LOCAL_LENGTH_ERROR,
                    data.length);
        }
        if (library.gather(other.receiveDomain(), receive.pieces, RegionRights.LOCAL_WRITE) == null) {
            return refuse(
                    other,
                    CompletionStatus.REMOTE_OPERATION_ERROR,
                    CompletionStatus.LOCAL_PROTECTION_ERROR,
                    data.length);
        }
        if (work.opcode == WorkRequestAbi.OPCODE_SEND_INVALIDATE
                && !library.windows().invalidate(other, work.immediate)) {
            return refuse(
                    other,
                    CompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                    CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR,
                    data.length);
        }
        other.takeReceive();
        scatter(other.receiveDomain(), receive.pieces, data, library);
        other.received(receive, CompletionCodes.RECEIVE, data.length, work);
        sends.removeFirst();
        succeed(work, data.length);
        return true;
    }

    /** The peer's first RECV cannot take the first SEND, which on iWARP has left with success before anybody knew. */
    private boolean refuse(FakeQueuePair other, CompletionStatus here, CompletionStatus there, int length) {
        Work work = sends.removeFirst();
        other.complete(other.receiveQueue, other.takeReceive(), there, VENDOR_ERROR, false);
        if (library.iwarp()) {
            succeed(work, length);
        } else {
            complete(sendQueue, work, here, VENDOR_ERROR, false);
        }
        other.fail();
        fail();
        return false;
    }

    private static void scatter(long domain, List<Piece> pieces, byte[] data, FakeVerbsLibrary library) {
        int at = 0;
        for (Piece piece : pieces) {
            int length = Math.min(piece.length, data.length - at);
            if (length > 0) {
                long memory = library.translate(domain, piece.address, length, piece.lkey, RegionRights.LOCAL_WRITE);
                MemorySegment part = MemorySegment.ofArray(data).asSlice(at, length);
                CMemory.putBytes(memory, part.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
                at += length;
            }
        }
    }

    private void succeed(Work work, int length) {
        if ((work.flags & SendFlags.SIGNALLED) != 0) {
            int opcode = switch (work.opcode) {
                case WorkRequestAbi.OPCODE_READ -> CompletionCodes.READ;
                case WorkRequestAbi.OPCODE_WRITE, WorkRequestAbi.OPCODE_WRITE_IMMEDIATE -> CompletionCodes.WRITE;
                case WorkRequestAbi.OPCODE_COMPARE_AND_SWAP -> CompletionCodes.COMPARE_AND_SWAP;
                case WorkRequestAbi.OPCODE_FETCH_AND_ADD -> CompletionCodes.FETCH_AND_ADD;
                case WorkRequestAbi.OPCODE_BIND_WINDOW -> CompletionCodes.BIND_WINDOW;
                case WorkRequestAbi.OPCODE_INVALIDATE -> CompletionCodes.INVALIDATE;
                default -> CompletionCodes.SEND;
            };
            sendQueue.add(new FakeQueue.Entry(work.wrId, 0, opcode, 0, length, number), false);
        }
    }

    private void failWith(FakeQueue queue, ArrayDeque<Work> works, CompletionStatus status) {
        complete(queue, works.removeFirst(), status, VENDOR_ERROR, false);
        fail();
    }

    private void complete(FakeQueue queue, Work work, CompletionStatus status, int vendorError, boolean solicited) {
        queue.add(new FakeQueue.Entry(work.wrId, status.code(), 0, vendorError, 0, number), solicited);
    }
}
