package org.softrdma.verbs;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a send work request does (C: {@code enum ibv_wr_opcode}). */
public enum SendOpcode {
    /** Fills the peer's next RECV. */
    SEND(CompletionOpcode.SEND, null),
    /** Writes into the peer's memory. */
    WRITE(CompletionOpcode.WRITE, null),
    /** Reads from the peer's memory. */
    READ(CompletionOpcode.READ, null),
    /** A SEND that also hands the peer a 32-bit number with the completion of its RECV. */
    SEND_IMMEDIATE(CompletionOpcode.SEND, Feature.SEND_IMMEDIATE),
    /** A SEND that also invalidates a key of the peer. */
    SEND_INVALIDATE(CompletionOpcode.SEND, Feature.SEND_INVALIDATE),
    /** A WRITE after which the peer's next RECV completes, with a 32-bit number and nothing in its buffer. */
    WRITE_IMMEDIATE(CompletionOpcode.WRITE, Feature.WRITE_IMMEDIATE),
    /** Replaces a word of the peer's memory if it has an expected value, and fetches its previous value. */
    COMPARE_AND_SWAP(CompletionOpcode.COMPARE_AND_SWAP, Feature.ATOMICS),
    /** Adds to a word of the peer's memory, and fetches its previous value. */
    FETCH_AND_ADD(CompletionOpcode.FETCH_AND_ADD, Feature.ATOMICS),
    /** Invalidates a window of this side (C: {@code IBV_WR_LOCAL_INV}). */
    INVALIDATE(CompletionOpcode.INVALIDATE, Feature.MEMORY_WINDOWS),
    /** Binds a window of this side to part of a region. */
    BIND_WINDOW(CompletionOpcode.BIND_WINDOW, Feature.MEMORY_WINDOWS);

    private final CompletionOpcode completion;
    /** Made once: a check of each post asks for it. */
    private final Optional<Feature> feature;

    SendOpcode(CompletionOpcode completion, @Nullable Feature feature) {
        this.completion = completion;
        this.feature = Optional.ofNullable(feature);
    }

    /** The opcode of its successful completion. */
    public CompletionOpcode completion() {
        return completion;
    }

    /** The feature that a device needs for it; empty if every device has it. */
    public Optional<Feature> feature() {
        return feature;
    }

    /** True for COMPARE_AND_SWAP and FETCH_AND_ADD. */
    public boolean isAtomic() {
        return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
    }

    /** True if the peer answers it with data: the connection's outbound reads limit how many of these are in flight. */
    public boolean isAnswered() {
        return this == READ || isAtomic();
    }

    /** True if it consumes a RECV of the peer, and so may be {@link SendFlags#SOLICITED}. */
    public boolean consumesReceive() {
        return this == SEND || this == SEND_IMMEDIATE || this == SEND_INVALIDATE || this == WRITE_IMMEDIATE;
    }

    /** True if it carries the bytes of its local entries to the peer, and so may be {@link SendFlags#INLINE}. */
    public boolean carriesData() {
        return this == WRITE || consumesReceive();
    }
}
