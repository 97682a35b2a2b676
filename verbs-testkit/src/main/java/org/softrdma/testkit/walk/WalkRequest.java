package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionOpcode;

/** A work request: what it is, what is wrong with it, and what the model expects of it. The walk's thread. */
final class WalkRequest {
    private final long wrId;
    private final @Nullable WalkEnd end;
    private final CompletionOpcode kind;
    private final boolean signalled;
    private final boolean fenced;
    private final boolean inline;
    private final List<Part> parts;
    private final @Nullable Part remote;
    private final Fault fault;
    private final List<Claim> claims = new ArrayList<>();
    private final List<WalkRequest> seen = new ArrayList<>();
    private KnownBytes data = KnownBytes.unknown(0);
    private KnownBytes written = KnownBytes.unknown(0);
    private Operands operands = Operands.NONE;
    private @Nullable WalkBinding binding;
    private boolean tainted;
    private boolean vulnerable;

    /** What verbs must refuse of it. */
    enum Fault {
        NONE,
        LOCAL,
        REMOTE
    }

    /** Part of a region, which need not lie inside of it. */
    record Part(WalkRegion region, int offset, int length) {
        int from() {
            return region.from() + offset;
        }

        int to() {
            return from() + length;
        }
    }

    /**
     * What it carries beside bytes.
     *
     * @param compareAdd what a compare-and-swap expects, or a fetch-and-add adds
     * @param swap what a compare-and-swap puts in its place
     * @param immediate of a WRITE
     * @param invalidatedKey the key that it takes back, here or at the peer
     */
    record Operands(long compareAdd, long swap, OptionalInt immediate, OptionalInt invalidatedKey) {
        static final Operands NONE = new Operands(0, 0, OptionalInt.empty(), OptionalInt.empty());

        static Operands ofImmediate(int immediate) {
            return new Operands(0, 0, OptionalInt.of(immediate), OptionalInt.empty());
        }

        static Operands ofAtomic(long compareAdd, long swap) {
            return new Operands(compareAdd, swap, OptionalInt.empty(), OptionalInt.empty());
        }

        static Operands ofInvalidation(int key) {
            return new Operands(0, 0, OptionalInt.empty(), OptionalInt.of(key));
        }
    }

    /** How a request is posted. */
    record Manner(boolean signalled, boolean fenced, boolean inline) {}

    /**
     * A request to be posted.
     *
     * @param wrId its number
     * @param end whose it is; null for a RECV of a shared queue
     * @param kind of its completion
     * @param manner of posting
     * @param parts local memory
     * @param remote memory of the peer, if it names any
     * @param fault what is wrong with it
     */
    WalkRequest(
            long wrId,
            @Nullable WalkEnd end,
            CompletionOpcode kind,
            Manner manner,
            List<Part> parts,
            @Nullable Part remote,
            Fault fault) {
        this.wrId = wrId;
        this.end = end;
        this.kind = kind;
        this.parts = List.copyOf(parts);
        this.remote = remote;
        this.fault = fault;
        signalled = manner.signalled();
        fenced = manner.fenced();
        inline = manner.inline();
    }

    long wrId() {
        return wrId;
    }

    /** Not of RECVs of shared queues. */
    WalkEnd end() {
        if (end == null) {
            throw new IllegalStateException(this + " is of a shared queue");
        }
        return end;
    }

    /** It is a RECV of a shared queue. */
    boolean isShared() {
        return end == null;
    }

    CompletionOpcode kind() {
        return kind;
    }

    boolean isSignalled() {
        return signalled;
    }

    boolean isFenced() {
        return fenced;
    }

    boolean isInline() {
        return inline;
    }

    List<Part> parts() {
        return parts;
    }

    WalkRequest with(Operands newOperands) {
        operands = newOperands;
        return this;
    }

    Operands operands() {
        return operands;
    }

    /** It goes by a window, or is about one. */
    WalkRequest about(@Nullable WalkBinding newBinding) {
        binding = newBinding;
        return this;
    }

    /** The bind that it goes by, makes or takes back; null if there is none. */
    @Nullable
    WalkBinding binding() {
        return binding;
    }

    boolean goesBy(WalkBinding other) {
        return binding == other;
    }

    /** The key by which a one-sided request names the memory of the peer. */
    int remoteKey() {
        return binding == null ? remote().region().key() : binding.key();
    }

    /** It is a SEND that takes a key of the peer back. */
    boolean invalidatesAtPeer() {
        return kind == CompletionOpcode.SEND && operands.invalidatedKey().isPresent();
    }

    boolean isAtomic() {
        return kind == CompletionOpcode.COMPARE_AND_SWAP || kind == CompletionOpcode.FETCH_AND_ADD;
    }

    /** The peer answers it with data. */
    boolean isAnswered() {
        return kind == CompletionOpcode.READ || isAtomic();
    }

    /** It changes the peer's memory. */
    boolean changesPeer() {
        return kind == CompletionOpcode.WRITE || isAtomic();
    }

    /** It changes memory of its own side. */
    boolean changesHere() {
        return kind == CompletionOpcode.RECEIVE || isAnswered();
    }

    /** It consumes a RECV of the peer. */
    boolean isMessage() {
        return kind == CompletionOpcode.SEND || operands.immediate().isPresent();
    }

    /** The claim of a one-sided request at the peer, not those of its own buffers. */
    boolean isAtPeer(Claim claim) {
        return remote != null && claim.region() == remote.region();
    }

    /** Only of one-sided requests. */
    Part remote() {
        if (remote == null) {
            throw new IllegalStateException(this + " names no remote memory");
        }
        return remote;
    }

    boolean isOneSided() {
        return remote != null;
    }

    Fault fault() {
        return fault;
    }

    int length() {
        return parts.stream().mapToInt(Part::length).sum();
    }

    /** True if it names the region, here or at the peer. */
    boolean uses(WalkRegion region) {
        return (remote != null && remote.region() == region)
                || parts.stream().anyMatch(part -> part.region() == region && !inline);
    }

    List<Claim> claims() {
        return claims;
    }

    /** What a WRITE or an atomic leaves at the peer. */
    KnownBytes written() {
        return written;
    }

    void written(KnownBytes newWritten) {
        written = newWritten;
    }

    /** The bytes that a SEND or WRITE carries, or that a READ or an atomic should fetch. */
    KnownBytes data() {
        return data;
    }

    void data(KnownBytes newData) {
        data = newData;
    }

    /** Somebody else writes what it reads, or uses what it writes: its bytes may be anything. */
    boolean isTainted() {
        return tainted || seen.stream().anyMatch(write -> write.isTainted() || write.isVulnerable());
    }

    /** What it reads is what this WRITE has put there. */
    void sees(WalkRequest write) {
        seen.add(write);
    }

    void taint() {
        tainted = true;
    }

    /** A region that it names was deregistered before it was done: it may fail. */
    boolean isVulnerable() {
        return vulnerable;
    }

    void expose() {
        vulnerable = true;
    }

    /** Whatever it reads or writes is free again. */
    void releaseAll() {
        release(claims);
    }

    /** What it only reads, or only writes, is free again. */
    void release(boolean written) {
        release(claims.stream().filter(claim -> claim.writes() == written).toList());
    }

    /** What it writes at the peer is free again: it is there. */
    void releaseAtPeer() {
        release(claims.stream()
                .filter(claim -> claim.writes() && isAtPeer(claim))
                .toList());
    }

    /** What it does at the peer is over: what it still was to write there may be anything, and is free. */
    void abandonAtPeer() {
        List<Claim> there = claims.stream().filter(this::isAtPeer).toList();
        there.stream().filter(Claim::writes).forEach(claim -> claim.buffer().forget(claim.from(), claim.to()));
        release(there);
    }

    private void release(List<Claim> some) {
        for (Claim claim : List.copyOf(some)) {
            claim.buffer().release(claim);
            claims.remove(claim);
        }
    }

    /** What it still writes may be anything, and is free. */
    void forgetWritten() {
        claims.stream().filter(Claim::writes).forEach(claim -> claim.buffer().forget(claim.from(), claim.to()));
        release(true);
    }

    /** What it still writes on its own side may be anything, and is free. */
    void forgetWrittenHere() {
        List<Claim> here = claims.stream()
                .filter(claim -> claim.writes() && !isAtPeer(claim))
                .toList();
        here.forEach(claim -> claim.buffer().forget(claim.from(), claim.to()));
        release(here);
    }

    @Override
    public String toString() {
        return kind + " " + wrId + " of " + length() + " bytes"
                + (fault == Fault.NONE ? "" : ", " + fault + " fault")
                + (signalled ? ", signalled" : "")
                + (fenced ? ", fenced" : "")
                + (inline ? ", inline" : "")
                + (operands == Operands.NONE ? "" : ", " + operands)
                + (remote == null ? "" : ", remote " + remote)
                + (binding == null ? "" : ", by " + binding);
    }
}
