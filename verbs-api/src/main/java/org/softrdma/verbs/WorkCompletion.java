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

    /** What the request was. Only for a success. */
    public CompletionOpcode opcode() {
        requireSuccess("opcode");
        return opcode;
    }

    /** Bytes that a RECV received or a READ read; 0 for SEND and WRITE. Only for a success. */
    public long byteLength() {
        requireSuccess("byteLength");
        return byteLength;
    }

    /**
     * For providers: fills in a success.
     *
     * @param newWrId number of the work request
     * @param newQpNumber its queue pair
     * @param newOpcode what it was
     * @param newByteLength bytes moved; kept for RECV and READ
     */
    public void succeeded(long newWrId, int newQpNumber, CompletionOpcode newOpcode, long newByteLength) {
        wrId = newWrId;
        status = CompletionStatus.SUCCESS;
        qpNumber = newQpNumber;
        vendorCode = 0;
        opcode = newOpcode;
        byteLength = newOpcode == CompletionOpcode.SEND || newOpcode == CompletionOpcode.WRITE ? 0 : newByteLength;
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
     * For tools that watch a program: who is told when it reads a field that this failure does not have, just before the
     * accessor throws. Until the object is filled in again.
     *
     * @param observer gets the name of the accessor
     */
    public void onInvalidField(Consumer<String> observer) {
        invalidFieldObserver = observer;
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
