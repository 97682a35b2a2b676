package org.softrdma.rdmacore.device;

import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.QueuePairType;

/** The numbers of {@code enum ibv_qp_type} and {@code enum ibv_mtu}. */
final class QueuePairCodes {
    private static final int FIRST_TRANSFER_UNIT = 128;
    /** {@code IBV_MTU_4096}. */
    private static final int LARGEST_CODE = 5;

    private QueuePairCodes() {}

    /** {@code enum ibv_qp_type}. */
    static int type(QueuePairType type) {
        return switch (type) {
            case RELIABLE_CONNECTION -> VerbsAbi.RELIABLE_CONNECTION;
            case UNRELIABLE_CONNECTION -> VerbsAbi.UNRELIABLE_CONNECTION;
            case UNRELIABLE_DATAGRAM -> VerbsAbi.UNRELIABLE_DATAGRAM;
        };
    }

    /** {@code enum ibv_mtu} of bytes. */
    static int transferUnitCode(int bytes) {
        return Integer.numberOfTrailingZeros(bytes / FIRST_TRANSFER_UNIT);
    }

    /** Bytes of an {@code enum ibv_mtu}; a port that is down may report none. */
    static int transferUnit(int code) {
        return FIRST_TRANSFER_UNIT << Math.clamp(code, 1, LARGEST_CODE);
    }
}
