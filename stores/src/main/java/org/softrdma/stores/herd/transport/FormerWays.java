package org.softrdma.stores.herd.transport;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.softrdma.verbs.AddressHandle;

/**
 * The ways to clients that have gone: each is open until the last datagram that may name it has left. Owned by the
 * server's thread.
 */
final class FormerWays implements AutoCloseable {
    private final List<UdAnswers> answers;
    private final Queue<FormerWay> ways = new ArrayDeque<>();

    private record FormerWay(AddressHandle way, List<Long> posted) {}

    /**
     * No way yet.
     *
     * @param answers all that may name one
     */
    FormerWays(List<UdAnswers> answers) {
        this.answers = List.copyOf(answers);
    }

    /** Nothing names a way any more that is not posted yet. */
    void add(AddressHandle way) {
        ways.add(new FormerWay(way, answers.stream().map(UdAnswers::posted).toList()));
    }

    /** Closes those that nothing needs any more. */
    void closeOld() {
        FormerWay oldest = ways.peek();
        while (oldest != null && hasLeft(oldest)) {
            oldest.way.close();
            FormerWay ignored = ways.remove();
            oldest = ways.peek();
        }
    }

    private boolean hasLeft(FormerWay former) {
        for (int i = 0; i < answers.size(); i++) {
            if (!answers.get(i).isDone(former.posted.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Once all queue pairs of datagrams are closed. */
    @Override
    public void close() {
        ways.forEach(former -> former.way.close());
        ways.clear();
    }
}
