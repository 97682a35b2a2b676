package org.softrdma.rdmacore.fake;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.nativeverbs.RegionRights;
import org.softrdma.nativeverbs.device.NativeCompletionQueue;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;

/** An {@code ibv_qp} that runs its requests when they are posted, or when the peer's RECV is. Under the fake's lock. */
final class FakeQueuePair {
    /** {@code IBV_WC_SEND}. */
    private static final int COMPLETED_SEND = 0;

    private static final int RECEIVED = 128;
    private static final int VENDOR_ERROR = 0x99;

    /** A piece of local memory. */
    record Piece(long address, int length, int lkey) {}

    /** A send work request or RECV, copied at the post. */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Work(long wrId, int opcode, int flags, long remoteAddress, int rkey, List<Piece> pieces, byte[] inline) {
        int length() {
            return pieces.stream().mapToInt(Piece::length).sum();
        }
    }

    final long pointer = FakeMemory.allocate(160);
    final long domain;
    private final FakeVerbsLibrary library;
    private final FakeQueue sendQueue;
    private final FakeQueue receiveQueue;
    private final ArrayDeque<Work> sends = new ArrayDeque<>();
    private final ArrayDeque<Work> receives = new ArrayDeque<>();
    private final int number;

    @Nullable
    FakeQueuePair peer;

    private boolean connected;
    private boolean error;

    FakeQueuePair(FakeVerbsLibrary library, int number, long domain, FakeQueue sendQueue, FakeQueue receiveQueue) {
        this.library = library;
        this.number = number;
        this.domain = domain;
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
        CMemory.putLong(pointer + VerbsAbi.QUEUE_PAIR_DOMAIN, domain);
        CMemory.putLong(pointer + VerbsAbi.QUEUE_PAIR_SEND_QUEUE, sendQueue.pointer);
        CMemory.putLong(pointer + VerbsAbi.QUEUE_PAIR_RECEIVE_QUEUE, receiveQueue.pointer);
        CMemory.putInt(pointer + VerbsAbi.QUEUE_PAIR_NUMBER, number);
        CMemory.putInt(pointer + VerbsAbi.QUEUE_PAIR_TYPE, VerbsAbi.RELIABLE_CONNECTION);
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
            long at = CMemory.getLong(request + entries) + i * VerbsAbi.ENTRY_BYTES;
            pieces.add(new Piece(
                    CMemory.getLong(at + VerbsAbi.ENTRY_ADDRESS),
                    CMemory.getInt(at + VerbsAbi.ENTRY_LENGTH),
                    CMemory.getInt(at + VerbsAbi.ENTRY_LKEY)));
        }
        byte[] inline = {};
        if ((flags & SendFlags.INLINE) != 0) {
            java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
            pieces.forEach(piece -> bytes.writeBytes(CMemory.getBytes(piece.address, piece.length)));
            inline = bytes.toByteArray();
        }
        boolean send = opcode >= 0;
        return new Work(
                CMemory.getLong(request + VerbsAbi.SEND_WR_ID),
                opcode,
                flags,
                send ? CMemory.getLong(request + VerbsAbi.SEND_REMOTE_ADDRESS) : 0,
                send ? CMemory.getInt(request + VerbsAbi.SEND_RKEY) : 0,
                pieces,
                inline);
    }

    void postSend(Work work) {
        if (error && library.iwarp()) {
            return; // siw: nothing posted after ERROR ever completes
        }
        sends.addLast(work);
        run();
    }

    void postReceive(Work work) {
        if (error && library.iwarp()) {
            return;
        }
        receives.addLast(work); // rxe: in ERROR nobody looks, until told to go to ERROR
        FakeQueuePair other = peer;
        if (!error && other != null) {
            other.run();
        }
    }

    /** Goes to ERROR, or looks again, and flushes. */
    void fail() {
        error = true;
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
        sends.clear();
        receives.clear();
    }

    private void run() {
        if (error) {
            fail();
        }
        while (!sends.isEmpty() && !error) {
            FakeQueuePair other = peer;
            if (other == null || (other.error && sends.getFirst().opcode != VerbsAbi.OPCODE_SEND)) {
                failWith(sendQueue, sends, CompletionStatus.RETRY_EXCEEDED_ERROR);
                return;
            }
            if (!execute(sends.getFirst(), other)) {
                return;
            }
        }
    }

    private boolean execute(Work work, FakeQueuePair other) {
        int access = work.opcode == VerbsAbi.OPCODE_READ ? RegionRights.LOCAL_WRITE : 0;
        byte @Nullable [] data = work.inline.length > 0 ? work.inline : null;
        if (data == null) {
            data = library.gather(domain, work.pieces, access);
        }
        if (data == null) {
            failWith(sendQueue, sends, CompletionStatus.LOCAL_PROTECTION_ERROR);
            return false;
        }
        if (work.opcode == VerbsAbi.OPCODE_SEND) {
            return send(work, other, data);
        }
        int right = work.opcode == VerbsAbi.OPCODE_READ ? RegionRights.REMOTE_READ : RegionRights.REMOTE_WRITE;
        long memory = data.length == 0
                ? 1
                : library.translate(other.domain, work.remoteAddress, data.length, work.rkey, right, true);
        if (memory == 0) {
            failWith(
                    sendQueue,
                    sends,
                    library.iwarp() ? CompletionStatus.FLUSHED : CompletionStatus.REMOTE_ACCESS_ERROR);
            other.fail();
            return false;
        }
        if (work.opcode == VerbsAbi.OPCODE_READ) {
            scatter(domain, work.pieces, CMemory.getBytes(memory, data.length), library);
        } else if (data.length > 0) {
            CMemory.putBytes(memory, data);
        }
        sends.removeFirst();
        succeed(work, data.length);
        return true;
    }

    private boolean send(Work work, FakeQueuePair other, byte[] data) {
        if (other.receives.isEmpty()) {
            if (library.iwarp()) {
                sends.removeFirst();
                succeed(work, data.length);
                fail();
            }
            return false;
        }
        Work receive = other.receives.getFirst();
        if (receive.length() < data.length) {
            return refuse(
                    other,
                    CompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                    CompletionStatus.LOCAL_LENGTH_ERROR,
                    data.length);
        }
        if (library.gather(other.domain, receive.pieces, RegionRights.LOCAL_WRITE) == null) {
            return refuse(
                    other,
                    CompletionStatus.REMOTE_OPERATION_ERROR,
                    CompletionStatus.LOCAL_PROTECTION_ERROR,
                    data.length);
        }
        other.receives.removeFirst();
        scatter(other.domain, receive.pieces, data, library);
        other.receiveQueue.add(
                new FakeQueue.Entry(receive.wrId, 0, RECEIVED, 0, data.length, other.number),
                (work.flags & SendFlags.SOLICITED) != 0);
        sends.removeFirst();
        succeed(work, data.length);
        return true;
    }

    /** The peer's first RECV cannot take the first SEND, which on iWARP has left with success before anybody knew. */
    private boolean refuse(FakeQueuePair other, CompletionStatus here, CompletionStatus there, int length) {
        Work work = sends.removeFirst();
        complete(other.receiveQueue, other.receives.removeFirst(), there, VENDOR_ERROR, false);
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
                long memory =
                        library.translate(domain, piece.address, length, piece.lkey, RegionRights.LOCAL_WRITE, false);
                MemorySegment part = MemorySegment.ofArray(data).asSlice(at, length);
                CMemory.putBytes(memory, part.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
                at += length;
            }
        }
    }

    private void succeed(Work work, int length) {
        if ((work.flags & SendFlags.SIGNALLED) != 0) {
            int opcode = switch (work.opcode) {
                case VerbsAbi.OPCODE_READ -> NativeCompletionQueue.COMPLETED_READ;
                case VerbsAbi.OPCODE_WRITE -> NativeCompletionQueue.COMPLETED_WRITE;
                default -> COMPLETED_SEND;
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
