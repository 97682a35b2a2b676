package org.softrdma.sim.roce.rc;

import java.lang.reflect.Array;
import org.softrdma.sim.roce.wire.Aeth;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.sim.roce.wire.RoceOpcode;

/**
 * The answers that a responder owes, in the order of the requests: acknowledgements, the packets of READs, results of
 * atomics. An answer with a PSN acknowledges everything before it, so acknowledgements join until one is sent, and none
 * overtakes a READ's answer before it: the requester would take that for lost.
 *
 * <p>A requester that asks for an answer again has gone back, and takes nothing behind it before that has come. So it goes
 * first: what is sent of later ones meanwhile is sent in vain.
 *
 * <p>To send: {@link #next} chooses a packet, whose fields its accessors give; once the packet is on its way, {@link
 * #sent} moves on. What does not fit is dropped: a peer that repeats requests faster than answers go repeats them again.
 * Engine thread only.
 */
public final class AnswerQueue {
    private enum Kind {
        ACKNOWLEDGEMENT,
        READ,
        ATOMIC
    }

    /** Room beside the answers with data: acknowledgements between them, and repeated answers. */
    private static final int SPARE = 16;

    private Kind[] kinds;
    private int[] psns;
    private int[] msns;
    private int[] syndromes;
    private int[] packets;
    private int[] rkeys;
    private long[] addresses;
    private long[] values;
    /** Bytes of the whole answer to a READ; what is left of it, or was asked for again, is its value. */
    private long[] totals;

    private boolean[] repeated;
    private int mask;
    private final int transferUnit;

    private long head;
    private long tail;
    private int withData;
    /** Packets of the answer at the head that were sent. */
    private int packet;

    private long dropped;

    /**
     * An empty queue.
     *
     * @param inboundReads READs and atomics that may wait for their answers
     * @param transferUnit bytes of payload in a full packet
     */
    public AnswerQueue(int inboundReads, int transferUnit) {
        int capacity = capacity(inboundReads);
        mask = capacity - 1;
        this.transferUnit = transferUnit;
        kinds = new Kind[capacity];
        psns = new int[capacity];
        msns = new int[capacity];
        syndromes = new int[capacity];
        packets = new int[capacity];
        rkeys = new int[capacity];
        addresses = new long[capacity];
        values = new long[capacity];
        totals = new long[capacity];
        repeated = new boolean[capacity];
    }

    private static int capacity(int inboundReads) {
        return Integer.highestOneBit(2 * inboundReads + SPARE) << 1;
    }

    /** As many READs and atomics may wait from now on; those that wait do so still. */
    void allow(int inboundReads) {
        int capacity = capacity(inboundReads);
        if (capacity <= mask + 1) {
            return;
        }
        kinds = grown(kinds, new Kind[capacity]);
        psns = grown(psns, new int[capacity]);
        msns = grown(msns, new int[capacity]);
        syndromes = grown(syndromes, new int[capacity]);
        packets = grown(packets, new int[capacity]);
        rkeys = grown(rkeys, new int[capacity]);
        addresses = grown(addresses, new long[capacity]);
        values = grown(values, new long[capacity]);
        totals = grown(totals, new long[capacity]);
        repeated = grown(repeated, new boolean[capacity]);
        mask = capacity - 1;
    }

    /** A ring twice as long, or more: whatever is in it has its slot in one of the copies. */
    private static <T> T grown(T ring, T longer) {
        int length = Array.getLength(ring);
        for (int at = 0; at < Array.getLength(longer); at += length) {
            System.arraycopy(ring, 0, longer, at, length);
        }
        return longer;
    }

    // ---- what the responder owes

    /** READs and atomics that wait for their first answer, or for the rest of it. */
    int answersWithData() {
        return withData;
    }

    /** Acknowledges everything up to a PSN. */
    void acknowledge(int psn, int msn) {
        int newest = slot(tail - 1);
        boolean joins = tail > head
                && kinds[newest] == Kind.ACKNOWLEDGEMENT
                && Aeth.isAcknowledged(syndromes[newest])
                && !Psn.isBefore(psn, psns[newest]);
        if (joins) {
            psns[newest] = psn;
            msns[newest] = msn;
        } else {
            int ignored = add(Kind.ACKNOWLEDGEMENT, psn, 1, Aeth.ACKNOWLEDGED, msn);
        }
    }

    /** Refuses the packet of a PSN, or says that it is missing. */
    void nak(int psn, int syndrome, int msn) {
        int ignored = add(Kind.ACKNOWLEDGEMENT, psn, 1, syndrome, msn);
    }

    /** Answers a READ. */
    void read(int psn, int rkey, long address, long length, int msn) {
        int slot = add(Kind.READ, psn, packets(length), Aeth.ACKNOWLEDGED, msn);
        if (slot >= 0) {
            put(slot, rkey, address, length);
            count(slot);
        }
    }

    /** Answers an atomic. */
    void atomic(int psn, long original, int msn) {
        int slot = add(Kind.ATOMIC, psn, 1, Aeth.ACKNOWLEDGED, msn);
        if (slot >= 0) {
            values[slot] = original;
            count(slot);
        }
    }

    private int packets(long length) {
        return Psn.packets(length, transferUnit);
    }

    private void put(int slot, int rkey, long address, long length) {
        rkeys[slot] = rkey;
        addresses[slot] = address;
        values[slot] = length;
        totals[slot] = length;
    }

    private void count(int slot) {
        repeated[slot] = false;
        withData++;
    }

    private int add(Kind kind, int psn, int count, int syndrome, int msn) {
        if (tail - head > mask) {
            dropped++;
            return -1;
        }
        int slot = slot(tail);
        kinds[slot] = kind;
        psns[slot] = psn;
        packets[slot] = count;
        syndromes[slot] = syndrome;
        msns[slot] = msn;
        repeated[slot] = true; // until it is counted
        tail++;
        return slot;
    }

    // ---- what it is asked for again

    /** Answers a READ again, perhaps from its middle on. */
    void readAgain(int psn, int rkey, long address, long length, int msn) {
        int slot = again(Kind.READ, psn, packets(length), msn);
        if (slot >= 0) {
            long total = repeated[slot] ? length : totals[slot];
            put(slot, rkey, address, length);
            totals[slot] = total;
        }
    }

    /** Answers an atomic again. */
    void atomicAgain(int psn, long original, int msn) {
        int slot = again(Kind.ATOMIC, psn, 1, msn);
        if (slot >= 0) {
            values[slot] = original;
        }
    }

    /**
     * An answer is to begin at a PSN, before all that is behind it: the one that waits for its turn or is being sent, or else a new
     * one. Where a first answer waits, no second one does: a peer that has had that would ask for more than it may.
     */
    private int again(Kind kind, int psn, int count, int msn) {
        long at = head;
        while (at < tail && Psn.isBefore(lastPsn(at), psn)) {
            at++;
        }
        boolean waits = at < tail && kinds[slot(at)] == kind && Psn.distance(psn, psns[slot(at)]) < count;
        if (!waits) {
            if (add(kind, psn, count, Aeth.ACKNOWLEDGED, msn) < 0) {
                return -1;
            }
            for (long from = tail - 1; from > at; from--) {
                swap(slot(from), slot(from - 1));
            }
        }
        packet = at == head ? 0 : packet;
        psns[slot(at)] = psn;
        packets[slot(at)] = count;
        return slot(at);
    }

    private int lastPsn(long at) {
        return Psn.plus(psns[slot(at)], packets[slot(at)] - 1);
    }

    private int slot(long at) {
        return (int) at & mask;
    }

    private void swap(int slot, int other) {
        Kind kind = kinds[slot];
        kinds[slot] = kinds[other];
        kinds[other] = kind;
        boolean isRepeated = repeated[slot];
        repeated[slot] = repeated[other];
        repeated[other] = isRepeated;
        swap(psns, slot, other);
        swap(msns, slot, other);
        swap(syndromes, slot, other);
        swap(packets, slot, other);
        swap(rkeys, slot, other);
        swap(addresses, slot, other);
        swap(values, slot, other);
        swap(totals, slot, other);
    }

    private static void swap(int[] of, int slot, int other) {
        int was = of[slot];
        of[slot] = of[other];
        of[other] = was;
    }

    private static void swap(long[] of, int slot, int other) {
        long was = of[slot];
        of[slot] = of[other];
        of[other] = was;
    }

    /** Answers for which there was no room. */
    public long dropped() {
        return dropped;
    }

    // ---- what to send

    /** Chooses the next packet; false if none is due. */
    public boolean next() {
        return head < tail;
    }

    private int slot() {
        return slot(head);
    }

    /** Opcode of the chosen packet. */
    public int opcode() {
        int slot = slot();
        return switch (kinds[slot]) {
            case ACKNOWLEDGEMENT -> RoceOpcode.ACKNOWLEDGE;
            case ATOMIC -> RoceOpcode.ATOMIC_ACKNOWLEDGE;
            case READ -> readOpcode(packet == 0, packet == packets[slot] - 1);
        };
    }

    private static int readOpcode(boolean first, boolean last) {
        if (first) {
            return last ? RoceOpcode.READ_RESPONSE_ONLY : RoceOpcode.READ_RESPONSE_FIRST;
        }
        return last ? RoceOpcode.READ_RESPONSE_LAST : RoceOpcode.READ_RESPONSE_MIDDLE;
    }

    /** PSN of the chosen packet. */
    public int psn() {
        return Psn.plus(psns[slot()], packet);
    }

    /** Syndrome of the chosen packet, if it has an {@link Aeth}. */
    public int syndrome() {
        return syndromes[slot()];
    }

    /** Message sequence number of the chosen packet, if it has an {@link Aeth}. */
    public int msn() {
        return msns[slot()];
    }

    /** What the word was, if the chosen packet answers an atomic. */
    public long original() {
        return values[slot()];
    }

    /** Key of the memory that the chosen packet of a READ is read from. */
    public int rkey() {
        return rkeys[slot()];
    }

    /** Where its payload is read from. */
    public long address() {
        return addresses[slot()] + offset();
    }

    private long offset() {
        return (long) packet * transferUnit;
    }

    /** Bytes of its payload; 0 unless it answers a READ. */
    public int payloadLength() {
        int slot = slot();
        return kinds[slot] == Kind.READ ? (int) Math.min(values[slot] - offset(), transferUnit) : 0;
    }

    /** Bytes of the answer to a READ from {@link #address} on. */
    public long rest() {
        return values[slot()] - offset();
    }

    /** Bytes of the whole answer to a READ. */
    public long total() {
        return totals[slot()];
    }

    /** True if the answer was asked for before. */
    public boolean isRepeated() {
        return repeated[slot()];
    }

    /** The chosen packet is on its way, or lost. */
    public void sent() {
        int slot = slot();
        packet++;
        if (packet == packets[slot]) {
            packet = 0;
            withData -= repeated[slot] ? 0 : 1;
            head++;
        }
    }

    /**
     * The memory of the chosen packet of a READ may not be read any more: a NAK goes instead. Behind a first answer nothing
     * else goes. A repeated one costs only itself: its requester may have had the answer before the memory was taken back.
     *
     * @return true if it was a first answer
     */
    public boolean refuseRest() {
        int slot = slot();
        int psn = psn();
        int msn = msn();
        packet = 0;
        if (repeated[slot]) {
            kinds[slot] = Kind.ACKNOWLEDGEMENT;
            psns[slot] = psn;
            packets[slot] = 1;
            syndromes[slot] = Aeth.REMOTE_ACCESS_ERROR;
            return false;
        }
        clear();
        nak(psn, Aeth.REMOTE_ACCESS_ERROR, msn);
        return true;
    }

    /** Nothing that waits is sent. */
    public void clear() {
        head = tail;
        withData = 0;
        packet = 0;
    }
}
