package org.softrdma.verbs;

/** What a send work request does (C: {@code enum ibv_wr_opcode}). */
public enum SendOpcode {
    /** Fills the peer's next RECV. */
    SEND(CompletionOpcode.SEND, false),
    /** Writes into the peer's memory. */
    WRITE(CompletionOpcode.WRITE, false),
    /** Reads from the peer's memory. */
    READ(CompletionOpcode.READ, true);

    private final CompletionOpcode completion;
    private final boolean answered;

    SendOpcode(CompletionOpcode completion, boolean answered) {
        this.completion = completion;
        this.answered = answered;
    }

    /** The opcode of its successful completion. */
    public CompletionOpcode completion() {
        return completion;
    }

    /** True if the peer answers it with data: the connection's outbound reads limit how many of these are in flight. */
    public boolean isAnswered() {
        return answered;
    }
}
