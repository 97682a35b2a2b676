package org.softrdma.sanitiser.watch;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.BufferName;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.FindingException;
import org.softrdma.sanitiser.finding.RequestName;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.RoutingHeader;

/** Judges the requests of a queue pair. Under the lock of the queue pair, but for {@link #checkBeforePost}. */
final class RequestRules {
    private final Watch watch;
    private final QueuePairRecord queuePair;
    private final int sendDepth;

    /** Told since the send queue last had a signalled request. */
    private boolean starvationTold;

    RequestRules(Watch watch, QueuePairRecord queuePair, int sendDepth) {
        this.watch = watch;
        this.queuePair = queuePair;
        this.sendDepth = sendDepth;
    }

    // ---- before the provider gets a request

    /**
     * Reports a request that names a closed region.
     *
     * @throws FindingException if the memory of an open region was freed: the provider would read or write it by its
     *     address
     */
    void checkBeforePost(OutstandingRequest request) {
        for (BufferRange buffer : request.buffers()) {
            checkMemory(request, buffer.name(), buffer.region());
        }
        if (request.opcode() == CompletionOpcode.READ) {
            checkReadSinks(request);
        }
        if (request.opcode() == CompletionOpcode.RECEIVE
                && queuePair.queueKey() != null
                && request.length() < RoutingHeader.LENGTH) {
            String what = "it has " + request.length() + " bytes: no datagram fits, not even an empty one";
            watch.reporter().report(finding(Rule.RECEIVE_WITHOUT_ROOM_FOR_HEADER, what, request, firstBuffer(request)));
        }
    }

    /** As {@link #checkBeforePost}, for one buffer. */
    void checkMemory(OutstandingRequest request, BufferName buffer, RegionRecord region) {
        if (region.isClosed()) {
            watch.reporter().report(finding(Rule.USE_AFTER_DEREGISTRATION, "the region is closed", request, buffer));
        } else if (region.isMemoryGone()) {
            Finding gone =
                    finding(Rule.ARENA_CLOSED, "the memory was freed; the request is not posted", request, buffer);
            watch.reporter().report(gone);
            throw new FindingException(gone);
        }
    }

    private void checkReadSinks(OutstandingRequest request) {
        for (BufferRange buffer : request.buffers()) {
            if (!buffer.region().isClosed() && !buffer.region().isReadSink()) {
                watch.reporter()
                        .report(finding(
                                Rule.READ_SINK_NOT_DECLARED,
                                "the region was registered without READ_SINK",
                                request,
                                buffer.name()));
            }
        }
    }

    // ---- at the post

    /** Counts a request that is being posted and takes or is a RECV; the former must find one of the peer. */
    void count(OutstandingRequest request, List<Finding> found) {
        if (request.opcode() == CompletionOpcode.RECEIVE) {
            queuePair.receivesPosted().incrementAndGet();
            queuePair.longestReceive().accumulateAndGet(request.length(), Math::max);
        }
        if (!request.consumesReceive()) {
            return;
        }
        if (request.datagram() != null) {
            checkDatagram(request, request.datagram(), found);
            return;
        }
        long number = queuePair.sendsPosted().incrementAndGet();
        QueuePairRecord peer = queuePair.peer();
        if (peer == null || peer.sharesReceives() || !queuePair.isReady() || !peer.isReady()) {
            return;
        }
        long receives = peer.receivesPosted().get();
        if (number > receives) {
            String what =
                    "this is number " + number + " of the requests of its queue pair that take a RECV, and the peer"
                            + " has posted " + receives + " RECVs so far";
            found.add(finding(Rule.SEND_WITHOUT_RECEIVE, what, request, null));
        }
    }

    /** Finds why a datagram cannot be taken. That there is no RECV for it is no fault: it may be lost. */
    private void checkDatagram(OutstandingRequest request, OutstandingRequest.Datagram datagram, List<Finding> found) {
        QueuePairRecord receiver = watch.datagrams().receiver(datagram);
        Integer expected = receiver == null ? null : receiver.queueKey();
        if (receiver == null || expected == null || !receiver.isReady()) {
            return;
        }
        Integer own = queuePair.queueKey();
        int carried = datagram.queueKey() < 0 && own != null ? own : datagram.queueKey();
        if (carried != expected) {
            String what = "it carries 0x" + Integer.toHexString(carried) + ", and " + receiver + " takes 0x"
                    + Integer.toHexString(expected);
            found.add(finding(Rule.WRONG_QUEUE_KEY, what, request, null));
        }
        long longest = receiver.longestReceive().get();
        if (!receiver.sharesReceives() && longest > 0 && longest < RoutingHeader.LENGTH + datagram.length()) {
            String what = "it has " + datagram.length() + " bytes, and the longest RECV that " + receiver
                    + " has posted has " + longest;
            found.add(finding(Rule.RECEIVE_WITHOUT_ROOM_FOR_HEADER, what, request, null));
        }
    }

    /** A request that was counted was not accepted. */
    void uncount(OutstandingRequest request) {
        if (request.opcode() == CompletionOpcode.RECEIVE) {
            queuePair.receivesPosted().decrementAndGet();
        } else if (request.consumesReceive() && request.datagram() == null) {
            queuePair.sendsPosted().decrementAndGet();
        }
    }

    /** False if one of the two will be flushed. */
    boolean bothAlive(OutstandingRequest other) {
        return queuePair.isAlive() && other.queuePair().isAlive();
    }

    Finding overlap(OutstandingRequest request, OutstandingRequest other) {
        String what = "its sink shares bytes with that of an outstanding " + other.name() + " on " + other.queuePair();
        return finding(Rule.SINKS_OVERLAP, what, request, firstBuffer(request));
    }

    Finding overcommitment(OutstandingRequest request, CompletionQueueRecord completions) {
        String what = completions.outstanding() + " requests may complete into a queue of " + completions.entries()
                + " entries";
        return finding(Rule.COMPLETION_QUEUE_OVERCOMMITTED, what, request, null);
    }

    /** Finds a send queue that nothing can empty. */
    void checkSlots(WorkQueueRecord sends, boolean refused, OutstandingRequest last, List<Finding> found) {
        boolean silent = sends.isSilent();
        if (!silent || !queuePair.isReady()) {
            starvationTold &= silent;
            return;
        }
        boolean starved = refused || sends.size() >= sendDepth;
        if (starved && !starvationTold) {
            starvationTold = true;
            String what = "the send queue is full with " + sends.size()
                    + " requests, none of which is signalled: nothing can be posted any more";
            found.add(finding(Rule.SEND_QUEUE_STARVED, what, last, null));
        }
    }

    // ---- at the completion

    /**
     * Compares the buffers with what they contained at the post.
     *
     * @param moved bytes that the device has written to them, from their start
     */
    void checkContent(OutstandingRequest request, long moved, List<Finding> found) {
        long left = moved;
        for (int i = 0; i < request.prints().size(); i++) {
            ContentPrint print = request.prints().get(i);
            BufferRange buffer = request.buffers().get(i);
            long from = Math.min(left, buffer.length());
            left -= from;
            if (print.isGone()) {
                found.add(finding(
                        Rule.ARENA_CLOSED, "the memory was freed before the completion", request, buffer.name()));
            } else if (print.isReadable()) {
                checkContent(request, buffer, print, from, found);
            }
        }
    }

    private void checkContent(
            OutstandingRequest request, BufferRange buffer, ContentPrint print, long from, List<Finding> found) {
        long changed = print.firstChange(from);
        if (changed < 0 || request.mayContentChange()) {
            return;
        }
        boolean sink = request.isSink();
        String what = "its buffer changed between the post and the completion, first at byte " + changed
                + (sink ? ", which is behind the message of " + from + " bytes" : "");
        found.add(finding(
                sink ? Rule.SINK_TOUCHED : Rule.SOURCE_TOUCHED,
                what,
                request,
                buffer.region().part(buffer.offset() + changed, buffer.length() - changed)));
    }

    Finding receiverNotReady(long wrId, @Nullable OutstandingRequest request) {
        return new Finding(
                Rule.SEND_WITHOUT_RECEIVE,
                "the peer had no RECV at any retry of the SEND",
                queuePair.ends(),
                name(wrId, request),
                null,
                CallSite.calls());
    }

    Finding invalidField(String field, long wrId, @Nullable OutstandingRequest request) {
        return new Finding(
                Rule.INVALID_FIELD_READ,
                field + " of a failed completion was read",
                queuePair.ends(),
                name(wrId, request),
                null,
                CallSite.calls());
    }

    private static RequestName name(long wrId, @Nullable OutstandingRequest request) {
        return request == null ? new RequestName(null, wrId, null) : request.name();
    }

    private static @Nullable BufferName firstBuffer(OutstandingRequest request) {
        return request.buffers().isEmpty() ? null : request.buffers().getFirst().name();
    }

    private Finding finding(Rule rule, String what, OutstandingRequest request, @Nullable BufferName buffer) {
        return new Finding(rule, what, queuePair.ends(), request.name(), buffer, CallSite.calls());
    }
}
