package org.softrdma.sanitiser.watch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.softrdma.verbs.CompletionOpcode;

/**
 * The outstanding requests of a send queue or a receive queue, in posting order.
 *
 * <p>Completions come in that order, and an unsignalled request gives one only if it fails. So the next completion is
 * of the first signalled request or of one before it, and its wrId says of which. If two of these have that wrId, or
 * none, the record is uncertain: it forgets everything and says nothing any more, rather than something wrong. Under
 * the lock of its queue pair.
 */
final class WorkQueueRecord {
    private final CompletionQueueRecord completions;
    private final Deque<OutstandingRequest> outstanding = new ArrayDeque<>();
    private boolean certain = true;

    WorkQueueRecord(CompletionQueueRecord completions) {
        this.completions = completions;
    }

    CompletionQueueRecord completions() {
        return completions;
    }

    boolean isCertain() {
        return certain;
    }

    int size() {
        return outstanding.size();
    }

    /** A request is about to be posted. True if the completion queue has too few entries from now on. */
    boolean add(OutstandingRequest request) {
        outstanding.add(request);
        return completions.posted();
    }

    /** The last request was not accepted. */
    void withdraw(OutstandingRequest last) {
        outstanding.removeLastOccurrence(last);
        completions.gone(1);
    }

    /** True if no completion can come while all goes well. */
    boolean isSilent() {
        return certain && !outstanding.isEmpty() && outstanding.stream().noneMatch(OutstandingRequest::isSignalled);
    }

    /** How many requests a failed completion with this number may be of; 0 also if the record is uncertain. */
    int candidates(long wrId) {
        int count = 0;
        for (OutstandingRequest request : outstanding) {
            count += request.wrId() == wrId ? 1 : 0;
            if (request.isSignalled()) {
                break;
            }
        }
        return count;
    }

    /**
     * A request has succeeded.
     *
     * @return it and those before it, which have completed too; empty if that is uncertain
     */
    List<OutstandingRequest> succeeded(long wrId, CompletionOpcode opcode) {
        List<OutstandingRequest> completed = new ArrayList<>();
        while (certain && !outstanding.isEmpty()) {
            OutstandingRequest next = outstanding.remove();
            completed.add(next);
            if (next.isSignalled()) {
                completions.gone(completed.size());
                certain = next.wrId() == wrId && isOf(next, opcode);
                return completed;
            }
        }
        completions.gone(completed.size());
        certain = false;
        return completed;
    }

    private static boolean isOf(OutstandingRequest request, CompletionOpcode opcode) {
        return request.opcode() == opcode || (request.opcode().isReceive() && opcode.isReceive());
    }

    /**
     * A request has failed, of which there is one candidate.
     *
     * @return it and those before it, which have completed too
     */
    List<OutstandingRequest> failed(long wrId) {
        List<OutstandingRequest> completed = new ArrayList<>();
        while (!outstanding.isEmpty()) {
            OutstandingRequest next = outstanding.remove();
            completed.add(next);
            if (next.wrId() == wrId) {
                break;
            }
        }
        completions.gone(completed.size());
        return completed;
    }

    /**
     * Forgets everything.
     *
     * @return what was outstanding
     */
    List<OutstandingRequest> forget() {
        certain = false;
        List<OutstandingRequest> all = List.copyOf(outstanding);
        outstanding.clear();
        completions.gone(all.size());
        return all;
    }
}
