package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.ibverbs.SocketAddressText;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.VerbsException;

/**
 * Moves a queue pair without an id from state to state, as rdma_cm does with the others: RESET, INIT, RTR, RTS, SQD
 * (ibv_modify_qp(3)). A move that fails changes nothing.
 *
 * @param pointer of the native queue pair
 * @param type what it can do
 */
record QueuePairMoves(DeviceContext device, long pointer, QueuePairType type) {
    /** 0.64 ms, after which a peer repeats a SEND that has found no RECV; what the examples of rdma-core have. */
    private static final byte RECEIVER_NOT_READY_CODE = 12;

    private boolean isReliable() {
        return type == QueuePairType.RELIABLE_CONNECTION;
    }

    /**
     * RESET to INIT, and those of datagrams to RTS at once.
     *
     * @param queueKey of datagrams
     * @param sequence of the first packet that it sends
     * @param rights of the peer by any key
     */
    void begin(int queueKey, int sequence, Set<AccessFlag> rights) {
        boolean datagrams = type == QueuePairType.UNRELIABLE_DATAGRAM;
        try (Arena arena = Arena.ofConfined()) {
            long to = attributes(arena);
            CMemory.putByte(to + VerbsAbi.MODIFY_PORT, (byte) OwnGid.PORT);
            CMemory.putInt(to + VerbsAbi.MODIFY_QKEY, queueKey);
            CMemory.putInt(to + VerbsAbi.MODIFY_ACCESS, access(rights));
            CMemory.putInt(to + VerbsAbi.MODIFY_SQ_PSN, sequence);
            String what = "a queue pair of type " + type;
            move(to, VerbsAbi.STATE_INIT, datagrams ? VerbsAbi.DATAGRAM_TO_INIT : VerbsAbi.CONNECTION_TO_INIT, what);
            if (datagrams) {
                move(to, VerbsAbi.STATE_READY_TO_RECEIVE, VerbsAbi.MODIFY_STATE, what);
                move(to, VerbsAbi.STATE_READY_TO_SEND, VerbsAbi.UNRELIABLE_TO_RTS, what);
            }
        }
    }

    /** What the peer may do by any key; drivers refuse rights that the type cannot use. */
    private int access(Set<AccessFlag> rights) {
        int most =
                RegionRights.REMOTE_WRITE | (isReliable() ? RegionRights.REMOTE_READ | RegionRights.REMOTE_ATOMIC : 0);
        return RegionRights.bits(rights) & most;
    }

    /** Changes the rights of the peer; datagrams have none. */
    void permit(Set<AccessFlag> rights) {
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            long to = attributes(arena);
            CMemory.putInt(to + VerbsAbi.MODIFY_ACCESS, access(rights));
            modify(to, VerbsAbi.ACCESS_ONLY, "", "the rights " + rights);
        }
    }

    /** Any state to RESET. */
    void reset() {
        try (Arena arena = Arena.ofConfined()) {
            move(attributes(arena), VerbsAbi.STATE_RESET, VerbsAbi.MODIFY_STATE, "a queue pair of type " + type);
        }
    }

    /** RTS to SQD. */
    void drain() {
        try (Arena arena = Arena.ofConfined()) {
            long to = attributes(arena);
            CMemory.putByte(to + VerbsAbi.MODIFY_TELLS_DRAINED, (byte) 1);
            move(to, VerbsAbi.STATE_DRAIN, VerbsAbi.TO_DRAIN, "a queue pair of type " + type);
        }
    }

    /**
     * SQD to RTS.
     *
     * @param changed what a reliable connection changes before; null for nothing
     */
    void resume(@Nullable SendAttributes changed) {
        try (Arena arena = Arena.ofConfined()) {
            long to = attributes(arena);
            if (changed != null && isReliable()) {
                write(to, changed);
                modify(to, VerbsAbi.RELIABLE_IN_DRAIN, " in SQD", changed.toString());
            }
            move(to, VerbsAbi.STATE_READY_TO_SEND, VerbsAbi.MODIFY_STATE, "a queue pair of type " + type);
        }
    }

    private static void write(long to, SendAttributes wanted) {
        CMemory.putByte(to + VerbsAbi.MODIFY_TIMEOUT, (byte) wanted.timeout().orElse(CoreCmId.ACK_TIMEOUT_SHIFT));
        CMemory.putByte(to + VerbsAbi.MODIFY_RETRY_CNT, (byte) wanted.retries().orElse(CoreCmId.RETRIES));
        CMemory.putByte(to + VerbsAbi.MODIFY_RNR_RETRY, (byte)
                wanted.receiverNotReadyRetries().orElse(CoreCmId.RNR_RETRIES));
        CMemory.putByte(to + VerbsAbi.MODIFY_MAX_RD_ATOMIC, (byte) wanted.outboundReads());
    }

    /**
     * INIT to RTR.
     *
     * @param wanted the other end, and what it may do
     * @param ownTransferUnit bytes of payload that a packet to this end may carry
     */
    void readyToReceive(ReceiveAttributes wanted, int ownTransferUnit) {
        QueuePairAddress peer = wanted.peer();
        try (Arena arena = Arena.ofConfined()) {
            long to = attributes(arena);
            device.ownGid().writeWay(to + VerbsAbi.MODIFY_AV, peer.host());
            int transferUnit = Math.min(peer.maxTransferUnit(), ownTransferUnit);
            CMemory.putInt(to + VerbsAbi.MODIFY_PATH_MTU, QueuePairCodes.transferUnitCode(transferUnit));
            CMemory.putInt(to + VerbsAbi.MODIFY_DEST_QPN, peer.number());
            CMemory.putInt(to + VerbsAbi.MODIFY_RQ_PSN, peer.sequence());
            CMemory.putByte(to + VerbsAbi.MODIFY_MAX_DEST_RD_ATOMIC, (byte) wanted.inboundReads());
            CMemory.putByte(to + VerbsAbi.MODIFY_MIN_RNR_TIMER, (byte)
                    wanted.receiverNotReadyTimer().orElse(RECEIVER_NOT_READY_CODE));
            move(
                    to,
                    VerbsAbi.STATE_READY_TO_RECEIVE,
                    isReliable() ? VerbsAbi.RELIABLE_TO_RTR : VerbsAbi.UNRELIABLE_TO_RTR,
                    "queue pair " + peer.number() + " of " + SocketAddressText.of(peer.host()));
        }
    }

    /**
     * RTR to RTS.
     *
     * @param wanted how it sends
     * @param sequence of the first packet, unless {@code wanted} has another
     */
    void readyToSend(SendAttributes wanted, int sequence) {
        try (Arena arena = Arena.ofConfined()) {
            long to = attributes(arena);
            CMemory.putInt(to + VerbsAbi.MODIFY_SQ_PSN, wanted.sequence().orElse(sequence));
            write(to, wanted);
            move(
                    to,
                    VerbsAbi.STATE_READY_TO_SEND,
                    isReliable() ? VerbsAbi.RELIABLE_TO_RTS : VerbsAbi.UNRELIABLE_TO_RTS,
                    "a queue pair of type " + type);
        }
    }

    private static long attributes(Arena arena) {
        return arena.allocate(VerbsAbi.QUEUE_PAIR_ATTRIBUTES).address();
    }

    /**
     * Moves.
     *
     * @throws VerbsException if it is refused
     */
    private void move(long attributes, int state, int mask, String what) {
        CMemory.putInt(attributes + VerbsAbi.MODIFY_QP_STATE, state);
        modify(attributes, mask, " to " + name(state), what);
    }

    private void modify(long attributes, int mask, String where, String what) {
        int errno = device.library().modifyQueuePair(pointer, attributes, mask);
        if (errno != 0) {
            throw NativeErrors.failed("ibv_modify_qp" + where, errno, what);
        }
    }

    private static String name(int state) {
        return switch (state) {
            case VerbsAbi.STATE_RESET -> "RESET";
            case VerbsAbi.STATE_INIT -> "INIT";
            case VerbsAbi.STATE_READY_TO_RECEIVE -> "RTR";
            case VerbsAbi.STATE_DRAIN -> "SQD";
            default -> "RTS";
        };
    }
}
