package org.softrdma.verbs.provider;

import java.util.EnumSet;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * Refuses what can never be posted to a queue pair, before anything is queued. Allocates nothing unless it refuses.
 *
 * @param limits in force on the queue pair
 * @param capabilities of its device
 * @param type of the queue pair
 */
public record PostingRules(QueuePairLimits limits, Capabilities capabilities, QueuePairType type) {
    private static final int KNOWN_FLAGS =
            SendFlags.FENCE | SendFlags.SIGNALLED | SendFlags.SOLICITED | SendFlags.INLINE;
    private static final AccessFlag[] NOT_OF_WINDOWS = EnumSet.complementOf(
                    EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC))
            .toArray(AccessFlag[]::new);

    /**
     * Of a reliable connection, or of a shared receive queue.
     *
     * @param limits in force
     * @param capabilities of the device
     */
    public PostingRules(QueuePairLimits limits, Capabilities capabilities) {
        this(limits, capabilities, QueuePairType.RELIABLE_CONNECTION);
    }

    /**
     * Checks that a connection manager can connect a queue pair.
     *
     * @param type of the queue pair
     * @throws VerbsException {@code NOT_SUPPORTED} for another one than RELIABLE_CONNECTION
     */
    public static void requireConnectable(QueuePairType type) {
        if (type != QueuePairType.RELIABLE_CONNECTION) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "a connection manager connects " + QueuePairType.RELIABLE_CONNECTION + " only, not " + type
                            + ": use ProtectionDomain.createQueuePair, on a device with " + type.feature());
        }
    }

    /**
     * Checks that a device can give these limits.
     *
     * @param asked what the application wants
     * @param device what the device offers
     * @return {@code asked}
     * @throws IllegalArgumentException if it cannot; the message names the limit and the value
     */
    public static QueuePairLimits checked(QueuePairLimits asked, Capabilities device) {
        check("maxSendWorkRequests", asked.maxSendWorkRequests(), 1, device.maxSendWorkRequests());
        check("maxReceiveWorkRequests", asked.maxReceiveWorkRequests(), 1, device.maxReceiveWorkRequests());
        check("maxSendScatterGather", asked.maxSendScatterGather(), 1, device.maxScatterGather());
        check("maxReceiveScatterGather", asked.maxReceiveScatterGather(), 1, device.maxScatterGather());
        check("maxInline", asked.maxInline(), 0, device.maxInline());
        return asked;
    }

    private static void check(String name, int asked, int least, int most) {
        if (asked < least || asked > most) {
            throw new IllegalArgumentException(name + "=" + asked + ": expected " + least + " to " + most);
        }
    }

    /**
     * Checks a send work request.
     *
     * @param request to be posted
     */
    public void check(SendWorkRequest request) {
        SendOpcode opcode = request.opcode();
        int entries = request.local().size();
        int least = leastEntries(opcode);
        int most = mostEntries(opcode);
        if (entries < least || entries > most) {
            throw new IllegalArgumentException(opcode + " with " + entries + " local entries: expected "
                    + (least == most ? "" : least == 0 ? "at most " : least + " to ") + most);
        }
        long length = request.local().totalLength();
        if (opcode.isAtomic() && length != Long.BYTES) {
            throw new IllegalArgumentException(
                    opcode + " with a local entry of " + length + " bytes: expected " + Long.BYTES);
        }
        if (opcode == SendOpcode.BIND_WINDOW) {
            checkWindowAccess(request.windowAccess());
        }
        check(opcode, request.flags(), length, request.addressHandle() != null);
    }

    private static int leastEntries(SendOpcode opcode) {
        return opcode.isAtomic() || opcode == SendOpcode.BIND_WINDOW ? 1 : 0;
    }

    private int mostEntries(SendOpcode opcode) {
        return switch (opcode) {
            case SEND, SEND_IMMEDIATE, SEND_INVALIDATE, WRITE, WRITE_IMMEDIATE -> limits.maxSendScatterGather();
            case READ -> Math.min(limits.maxSendScatterGather(), capabilities.maxScatterGatherRead());
            case COMPARE_AND_SWAP, FETCH_AND_ADD, BIND_WINDOW -> 1;
            case INVALIDATE -> 0;
        };
    }

    /**
     * Checks the rights that a window gives.
     *
     * @param access rights
     */
    public void checkWindowAccess(Set<AccessFlag> access) {
        for (AccessFlag flag : NOT_OF_WINDOWS) { // an array: the iterator of a set is an object
            if (access.contains(flag)) {
                throw new IllegalArgumentException(
                        flag + " of a window: expected REMOTE_READ, REMOTE_WRITE and REMOTE_ATOMIC");
            }
        }
    }

    /**
     * Checks what a peer may do on a queue pair.
     *
     * @param rights of the peer
     */
    public static void checkPeersRights(Set<AccessFlag> rights) {
        for (AccessFlag flag : NOT_OF_WINDOWS) {
            if (rights.contains(flag)) {
                throw new IllegalArgumentException(
                        flag + " of a queue pair: expected REMOTE_READ, REMOTE_WRITE and REMOTE_ATOMIC");
            }
        }
    }

    /**
     * Checks a RECV.
     *
     * @param request to be posted
     */
    public void check(ReceiveWorkRequest request) {
        int entries = request.local().size();
        if (entries > limits.maxReceiveScatterGather()) {
            throw new IllegalArgumentException(
                    entries + " local entries: expected at most " + limits.maxReceiveScatterGather());
        }
        checkLength(request.local().totalLength());
    }

    /**
     * Checks a send work request with one local entry. Inline data is read while it is posted, so it must lie inside
     * its region.
     *
     * @param opcode what it does
     * @param local region of the entry
     * @param offset bytes from the start of the region
     * @param length bytes
     * @param flags {@link SendFlags}
     */
    public void check(SendOpcode opcode, MemoryRegion local, long offset, long length, int flags) {
        check(opcode, local, offset, length, flags, false);
    }

    /**
     * Checks a datagram with one local entry, as {@link #check(SendOpcode, MemoryRegion, long, long, int)} does.
     *
     * @param opcode SEND or SEND_IMMEDIATE
     * @param local region of the entry
     * @param offset bytes from the start of the region
     * @param length bytes
     * @param flags {@link SendFlags}
     */
    public void checkDatagram(SendOpcode opcode, MemoryRegion local, long offset, long length, int flags) {
        check(opcode, local, offset, length, flags, true);
    }

    private void check(SendOpcode opcode, MemoryRegion local, long offset, long length, int flags, boolean addressed) {
        check(opcode, flags, length, addressed);
        if ((flags & SendFlags.INLINE) != 0) {
            local.checkRange(offset, length);
        }
    }

    /**
     * Checks a send work request without data of its own.
     *
     * @param opcode what it does
     * @param flags {@link SendFlags}
     */
    public void check(SendOpcode opcode, int flags) {
        check(opcode, flags, 0, false);
    }

    private void check(SendOpcode opcode, int flags, long length, boolean addressed) {
        if (addressed) {
            require(Feature.UNRELIABLE_DATAGRAM, opcode);
        }
        checkFeature(opcode);
        if (addressed || type != QueuePairType.RELIABLE_CONNECTION) {
            checkType(opcode, flags, length, addressed);
        }
        checkFlags(opcode, flags, length);
        checkLength(opcode == SendOpcode.BIND_WINDOW ? Math.min(length, 0) : length); // A bind moves nothing.
    }

    /** What only datagrams need, and what unreliable types do not have. */
    private void checkType(SendOpcode opcode, int flags, long length, boolean addressed) {
        if (!type.takes(opcode)) {
            throw new IllegalArgumentException(
                    opcode + " on a queue pair of type " + type + ", which does not take it");
        }
        if (addressed != (type == QueuePairType.UNRELIABLE_DATAGRAM)) {
            throw new IllegalArgumentException(
                    opcode + (addressed ? " with" : " without") + " an address handle on a queue pair of type " + type
                            + (addressed ? ": expected none" : ": expected one, as postSendTo gives it"));
        }
        if ((flags & SendFlags.FENCE) != 0 && type != QueuePairType.RELIABLE_CONNECTION) {
            throw new IllegalArgumentException(
                    "FENCE on a queue pair of type " + type + ": it has nothing to wait for");
        }
        if (addressed && length > capabilities.maxTransferUnit()) {
            throw new IllegalArgumentException("a datagram of " + length + " bytes: expected at most maxTransferUnit="
                    + capabilities.maxTransferUnit() + " of this device");
        }
    }

    /**
     * Checks the length of a message.
     *
     * @param length bytes
     */
    public void checkLength(long length) {
        if (length < 0 || length > capabilities.maxMessageLength()) {
            throw new IllegalArgumentException(
                    "length=" + length + ": expected 0 to " + capabilities.maxMessageLength());
        }
    }

    private void checkFeature(SendOpcode opcode) {
        switch (opcode) {
            case SEND, WRITE, READ -> {}
            case SEND_IMMEDIATE,
                    SEND_INVALIDATE,
                    WRITE_IMMEDIATE,
                    COMPARE_AND_SWAP,
                    FETCH_AND_ADD,
                    INVALIDATE,
                    BIND_WINDOW -> {
                require(opcode.feature().orElseThrow(), opcode);
            }
        }
    }

    private void require(Feature needed, SendOpcode opcode) {
        if (!capabilities.has(needed)) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    opcode + ": this device (" + capabilities.provider() + ", " + capabilities.transport() + ") has no "
                            + needed);
        }
    }

    private void checkFlags(SendOpcode opcode, int flags, long length) {
        if ((flags & ~(SendFlags.SIGNALLED | SendFlags.FENCE)) == 0) {
            return;
        }
        if ((flags & ~KNOWN_FLAGS) != 0) {
            throw new IllegalArgumentException("flags=0x" + Integer.toHexString(flags) + ": unknown bits");
        }
        if ((flags & SendFlags.SOLICITED) != 0 && !opcode.consumesReceive()) {
            throw new IllegalArgumentException("SOLICITED belongs to SEND and WRITE with immediate, not " + opcode);
        }
        if ((flags & SendFlags.INLINE) != 0) {
            if (!opcode.carriesData()) {
                throw new IllegalArgumentException("INLINE belongs to SEND and WRITE, not " + opcode);
            }
            if (length > limits.maxInline()) {
                throw new IllegalArgumentException("inline length=" + length + ": expected at most maxInline="
                        + limits.maxInline() + " of this queue pair");
            }
        }
    }

    /**
     * The flags that the device gets: drivers differ in what 0 inline bytes are.
     *
     * @param flags {@link SendFlags}
     * @param length bytes of all entries
     * @param signalAll of the queue pair
     */
    public static int nativeFlags(int flags, long length, boolean signalAll) {
        int all = signalAll ? flags | SendFlags.SIGNALLED : flags;
        return length == 0 ? all & ~SendFlags.INLINE : all;
    }

    /**
     * Refuses a send work request that the state of a queue pair does not take.
     *
     * @param opcode what it does
     * @param number of the queue pair
     * @param state of the queue pair
     * @param readsAllowed the connection allows requests with an answer, a READ for one, in flight
     */
    public static void checkSendable(SendOpcode opcode, int number, QueuePairState state, boolean readsAllowed) {
        if (!takesSends(state)) {
            throw new IllegalStateException(
                    opcode + " on queue pair " + number + " in state " + state + ": expected READY_TO_SEND");
        }
        if (opcode.isAnswered() && !readsAllowed) {
            throw new IllegalStateException(
                    opcode + " on queue pair " + number + ": the connection allows none (outbound reads 0)");
        }
    }

    private static boolean takesSends(QueuePairState state) {
        return switch (state) {
            case READY_TO_SEND, SEND_QUEUE_DRAIN, SEND_QUEUE_ERROR, ERROR -> true;
            case RESET, INITIAL, READY_TO_RECEIVE, CLOSED -> false;
        };
    }

    /**
     * Refuses a RECV that the state of a queue pair does not take.
     *
     * @param number of the queue pair
     * @param state of the queue pair
     * @param shared its RECVs come from a shared queue
     */
    public static void checkReceivable(int number, QueuePairState state, boolean shared) {
        if (state == QueuePairState.CLOSED || state == QueuePairState.RESET) {
            throw new IllegalStateException("RECV on queue pair " + number + " in state " + state);
        }
        if (shared) {
            throw new IllegalStateException("RECV on queue pair " + number
                    + ", which takes its RECVs from a shared receive queue: post it there");
        }
    }
}
