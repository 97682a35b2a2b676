package org.softrdma.sanitiser.watch;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.RequestName;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.SendFlags;

/**
 * A request from its post until its completion is polled. Under the lock of its queue pair, but for {@link
 * #contentMayChange}.
 */
public final class OutstandingRequest {
    private final QueuePairRecord queuePair;
    private final CompletionOpcode opcode;
    private final long wrId;
    private final int flags;
    private final @Nullable StackTraceElement postedAt = CallSite.line();
    private final List<BufferRange> buffers = new ArrayList<>();

    /** What the buffers contained at the post, in their order; empty if that is not watched. */
    private final List<ContentPrint> prints = new ArrayList<>();

    /** Of a READ: where its data comes from. */
    private @Nullable RemoteBuffer readsFrom;

    private boolean consumesReceive;
    private @Nullable Datagram datagram;
    private long length;

    /** Give back what the memory table keeps of it. */
    private final List<Runnable> claims = new ArrayList<>();

    /** True once somebody else than the program may write to a buffer. */
    private volatile boolean contentMayChange;

    private record RemoteBuffer(long address, int rkey) {}

    /**
     * Where a datagram goes.
     *
     * @param to its address handle, the provider's
     * @param number of the queue pair there
     * @param queueKey that it carries; a negative one stands for that of its own queue pair
     * @param length bytes behind the routing header
     */
    public record Datagram(AddressHandle to, int number, int queueKey, long length) {}

    OutstandingRequest(QueuePairRecord queuePair, CompletionOpcode opcode, long wrId, int flags) {
        this.queuePair = queuePair;
        this.opcode = opcode;
        this.wrId = wrId;
        this.flags = flags;
    }

    /**
     * Adds a local entry.
     *
     * @param region the region that it names; null if that is not known, so that the content is not watched
     * @param offset bytes from its start
     * @param length bytes; an entry of 0 bytes is of no interest
     */
    public OutstandingRequest add(@Nullable RegionRecord region, long offset, long length) {
        if (length == 0) {
            return this;
        }
        this.length += length;
        if (region == null) {
            contentMayChange();
        } else {
            buffers.add(BufferRange.of(region, offset, length));
        }
        return this;
    }

    /** Makes known that it is a datagram. */
    public OutstandingRequest sentTo(Datagram where) {
        datagram = where;
        return this;
    }

    @Nullable
    Datagram datagram() {
        return datagram;
    }

    /** Bytes of all its local entries, but for inline data. */
    long length() {
        return length;
    }

    /**
     * Makes known where a READ gets its data.
     *
     * @param remoteAddress first address at the peer
     * @param rkey the peer's key
     */
    public OutstandingRequest readsFrom(long remoteAddress, int rkey) {
        readsFrom = new RemoteBuffer(remoteAddress, rkey);
        return this;
    }

    /** Makes known that a RECV of the peer completes with it. */
    OutstandingRequest consumingReceive() {
        consumesReceive = true;
        return this;
    }

    boolean consumesReceive() {
        return consumesReceive;
    }

    QueuePairRecord queuePair() {
        return queuePair;
    }

    CompletionOpcode opcode() {
        return opcode;
    }

    long wrId() {
        return wrId;
    }

    boolean isSignalled() {
        return (flags & SendFlags.SIGNALLED) != 0;
    }

    /**
     * True if its sink may share bytes with that of an earlier one: if a fence makes it wait for that, or if both are
     * the same READ, so that it does not matter which places its data last.
     */
    boolean maySinkWith(OutstandingRequest earlier) {
        if (!earlier.queuePair.equals(queuePair) || !earlier.isFetch()) {
            return false;
        }
        boolean fenced = (flags & SendFlags.FENCE) != 0;
        boolean reads = opcode == CompletionOpcode.READ && earlier.opcode == opcode;
        return fenced || (reads && Objects.equals(readsFrom, earlier.readsFrom) && buffers.equals(earlier.buffers));
    }

    /** True if the device writes to its buffers. */
    boolean isSink() {
        return isFetch() || opcode.isReceive();
    }

    /** True for a READ or an atomic: what it fetches fills all of its buffers. */
    boolean isFetch() {
        return opcode == CompletionOpcode.READ
                || opcode == CompletionOpcode.COMPARE_AND_SWAP
                || opcode == CompletionOpcode.FETCH_AND_ADD;
    }

    List<BufferRange> buffers() {
        return buffers;
    }

    List<ContentPrint> prints() {
        return prints;
    }

    List<Runnable> claims() {
        return claims;
    }

    boolean mayContentChange() {
        return contentMayChange;
    }

    void contentMayChange() {
        contentMayChange = true;
    }

    RequestName name() {
        return new RequestName(opcode, wrId, postedAt);
    }
}
