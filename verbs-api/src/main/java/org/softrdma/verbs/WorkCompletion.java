package org.softrdma.verbs;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One completion, owned and reused by the caller of {@link CompletionQueue#poll} (C: {@code ibv_wc}).
 *
 * <p>A failed request has only {@link #wrId()}, {@link #status()}, {@link #qpNumber()} and {@link #vendorCode()}; the
 * other accessors throw {@link IllegalStateException}. Not thread-safe.
 */
public final class WorkCompletion {
    private long wrId;
    private CompletionStatus status = CompletionStatus.GENERAL_ERROR;
    private int qpNumber;
    private int vendorCode;
    private CompletionOpcode opcode = CompletionOpcode.SEND;
    private long byteLength;
    private boolean immediatePresent;
    private int immediate;
    private boolean keyInvalidated;
    private int invalidatedKey;
    private boolean datagram;
    private int sourceNumber;
    private boolean routingHeader;

    /** Told of a read that a failure does not allow; null for nobody. */
    private @Nullable Consumer<String> invalidFieldObserver;

    /** An empty completion for a poll to fill in. */
    public WorkCompletion() {}

    /**
     * An array of empty completions for {@link CompletionQueue#poll}.
     *
     * @param count its length
     */
    public static WorkCompletion[] array(int count) {
        WorkCompletion[] completions = new WorkCompletion[count];
        for (int i = 0; i < count; i++) {
            completions[i] = new WorkCompletion();
        }
        return completions;
    }

    /** The number given with the work request. */
    public long wrId() {
        return wrId;
    }

    /** How the request ended. */
    public CompletionStatus status() {
        return status;
    }

    /** True if the request succeeded. */
    public boolean isSuccess() {
        return status == CompletionStatus.SUCCESS;
    }

    /** The queue pair it was posted to. */
    public int qpNumber() {
        return qpNumber;
    }

    /** The provider's own number for a failure; 0 on success. */
    public int vendorCode() {
        return vendorCode;
    }

    /** The operation of the request. Only for a success. */
    public CompletionOpcode opcode() {
        requireSuccess("opcode");
        return opcode;
    }

    /**
     * Bytes that a RECV received, of a datagram with the {@value RoutingHeader#LENGTH} of its routing header, that a READ or an atomic fetched, or that the peer's WRITE with immediate wrote; 0
     * for every other request. Only for a success.
     */
    public long byteLength() {
        requireSuccess("byteLength");
        return byteLength;
    }

    /** True if the peer's message carried an immediate. Only for the success of a RECV. */
    public boolean hasImmediate() {
        requireReceive("hasImmediate");
        return immediatePresent;
    }

    /**
     * The immediate of the peer's message.
     *
     * @throws IllegalStateException if there is none
     */
    public int immediate() {
        requireReceive("immediate");
        if (!immediatePresent) {
            throw new IllegalStateException("wrId=" + wrId + " has no immediate; check hasImmediate() first");
        }
        return immediate;
    }

    /** True if the peer's SEND has invalidated a key of this side. Only for the success of a RECV. */
    public boolean hasInvalidatedKey() {
        requireReceive("hasInvalidatedKey");
        return keyInvalidated;
    }

    /**
     * The key that the peer's SEND has invalidated.
     *
     * @throws IllegalStateException if there is none
     */
    public int invalidatedKey() {
        requireReceive("invalidatedKey");
        if (!keyInvalidated) {
            throw new IllegalStateException(
                    "wrId=" + wrId + " has invalidated no key; check hasInvalidatedKey() first");
        }
        return invalidatedKey;
    }

    /** True if the RECV has taken a datagram. Only for the success of a RECV. */
    public boolean isDatagram() {
        requireReceive("isDatagram");
        return datagram;
    }

    /**
     * The number of the queue pair that sent a datagram (C: {@code src_qp}). Only for the success of a RECV of datagrams.
     *
     * @throws IllegalStateException if it is none
     */
    public int sourceNumber() {
        requireDatagram("sourceNumber");
        return sourceNumber;
    }

    /**
     * True if the first {@value RoutingHeader#LENGTH} bytes of the buffer are a {@link RoutingHeader} (C: {@code
     * IBV_WC_GRH}). If it is false, they mean nothing; the datagram begins behind them in either case. Only for the
     * success of a RECV of datagrams.
     *
     * @throws IllegalStateException if it is none
     */
    public boolean hasRoutingHeader() {
        requireDatagram("hasRoutingHeader");
        return routingHeader;
    }

    /**
     * For providers: fills in a success.
     *
     * @param newWrId number of the work request
     * @param newQpNumber its queue pair
     * @param newOpcode what it was
     * @param newByteLength bytes moved; kept where {@link CompletionOpcode#hasByteLength()}
     */
    public void succeeded(long newWrId, int newQpNumber, CompletionOpcode newOpcode, long newByteLength) {
        wrId = newWrId;
        status = CompletionStatus.SUCCESS;
        qpNumber = newQpNumber;
        vendorCode = 0;
        opcode = newOpcode;
        byteLength = newOpcode.hasByteLength() ? newByteLength : 0;
        immediatePresent = false;
        keyInvalidated = false;
        datagram = false;
    }

    /**
     * For providers: adds the immediate to the success of a RECV.
     *
     * @param newImmediate of the peer's message
     */
    public void withImmediate(int newImmediate) {
        immediatePresent = true;
        immediate = newImmediate;
    }

    /**
     * For providers: adds the invalidated key to the success of a RECV.
     *
     * @param newInvalidatedKey of the peer's message
     */
    public void withInvalidatedKey(int newInvalidatedKey) {
        keyInvalidated = true;
        invalidatedKey = newInvalidatedKey;
    }

    /**
     * For providers: adds the sender of a datagram to the success of a RECV.
     *
     * @param newSourceNumber queue pair that sent it
     * @param newRoutingHeader its routing header was written
     */
    public void withSource(int newSourceNumber, boolean newRoutingHeader) {
        datagram = true;
        sourceNumber = newSourceNumber;
        routingHeader = newRoutingHeader;
    }

    /**
     * For providers: fills in a failure.
     *
     * @param newWrId number of the work request
     * @param newQpNumber its queue pair
     * @param newStatus why it failed
     * @param newVendorCode the provider's own number
     */
    public void failed(long newWrId, int newQpNumber, CompletionStatus newStatus, int newVendorCode) {
        if (newStatus == CompletionStatus.SUCCESS) {
            throw new IllegalArgumentException("status=SUCCESS of a failed completion, wrId=" + newWrId);
        }
        wrId = newWrId;
        status = newStatus;
        qpNumber = newQpNumber;
        vendorCode = newVendorCode;
        invalidFieldObserver = null;
    }

    /**
     * For tools that watch a program: sets an observer of reads of a field that this failure does not have. It is
     * called just before the accessor throws, until the object is filled in again.
     *
     * @param observer gets the name of the accessor
     */
    public void onInvalidField(Consumer<String> observer) {
        invalidFieldObserver = observer;
    }

    private void requireReceive(String field) {
        requireSuccess(field);
        if (!opcode.isReceive()) {
            throw new IllegalStateException(field + " belongs to a RECV: wrId=" + wrId + " was a " + opcode);
        }
    }

    private void requireDatagram(String field) {
        requireReceive(field);
        if (!datagram) {
            throw new IllegalStateException(field + " belongs to datagrams: queue pair " + qpNumber + " has none");
        }
    }

    private void requireSuccess(String field) {
        if (status != CompletionStatus.SUCCESS) {
            if (invalidFieldObserver != null) {
                invalidFieldObserver.accept(field);
            }
            throw new IllegalStateException(
                    field + " is not valid: wrId=" + wrId + " ended with " + status + "; check status() first");
        }
    }

    @Override
    public String toString() {
        return status == CompletionStatus.SUCCESS
                ? "WorkCompletion[wrId=" + wrId + " " + opcode + " SUCCESS qp=" + qpNumber + " bytes=" + byteLength
                        + "]"
                : "WorkCompletion[wrId=" + wrId + " " + status + " qp=" + qpNumber + " vendor=0x"
                        + Integer.toHexString(vendorCode) + "]";
    }
}
