package org.softrdma.bench.workload;

import java.nio.ByteBuffer;

/** Takes what comes before a value in the answers of one protocol. */
interface AnswerHead {
    /** The rest of it has not come yet; nothing was taken. */
    int INCOMPLETE = -1;
    /** It says that there is no such value, and was taken. */
    int MISS = -2;
    /** It is neither; nothing was taken. */
    int REFUSED = -3;

    /**
     * Takes the head of the next answer.
     *
     * @param input what has come, from its position on
     * @return the length of the value, whose bytes come next, or what it was instead
     */
    int take(ByteBuffer input);

    /** The answer at the position of a buffer, of which {@link #take} made nothing, for people. */
    String describe(ByteBuffer input);
}
