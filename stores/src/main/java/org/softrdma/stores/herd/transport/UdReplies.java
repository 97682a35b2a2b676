package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.softrdma.verbs.AddressHandle;

/** A worker's answers to a client, by datagrams. Owned by the worker's thread. */
final class UdReplies implements HerdReplies {
    private final UdAnswers answers;
    private final AddressHandle way;
    private final int number;
    private final int key;
    private final AtomicLong heardNs;

    /**
     * No answer yet.
     *
     * @param answers of the worker
     * @param way to the client's device
     * @param number of its queue pair
     * @param key that the queue pair wants to see
     * @param nowNs the client has said hello
     */
    UdReplies(UdAnswers answers, AddressHandle way, int number, int key, long nowNs) {
        this.answers = answers;
        this.way = way;
        this.number = number;
        this.key = key;
        heardNs = new AtomicLong(nowNs);
    }

    /** When the client has asked this worker last, or has said hello. Any thread. */
    long heardNs() {
        return heardNs.getOpaque();
    }

    @Override
    public boolean hasRoom(int more) {
        return answers.hasRoom(more);
    }

    @Override
    public MemorySegment memory() {
        return answers.memory();
    }

    @Override
    public long nextAt() {
        return answers.nextAt();
    }

    @Override
    public void add(int length) {
        heardNs.setOpaque(answers.nowNs()); // it has asked
        answers.add(way, number, key, length);
    }

    @Override
    public void flush() {
        answers.flush();
    }
}
