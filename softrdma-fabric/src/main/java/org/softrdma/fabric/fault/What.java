package org.softrdma.fabric.fault;

import org.softrdma.verbs.CompletionStatus;

/**
 * What goes wrong. Faults of a connection happen to the one whose bytes or message set them off, those of a datagram to
 * the datagram; at a time they need nodes.
 */
public sealed interface What {
    /** A time that does not end. */
    long FOREVER = Long.MAX_VALUE;

    /** What goes wrong with a connection. */
    sealed interface OnConnection extends What {}

    /** What goes wrong with a datagram. */
    sealed interface OnDatagram extends What {}

    /** What goes wrong with the completion of a program's request. */
    sealed interface OnCompletion extends What {}

    /** What only the card of {@code softrdma run} can have. */
    sealed interface OfCard extends What {}

    /** The connection is reset; both ends learn it at once, and what was under way is lost. */
    record Reset() implements OnConnection {}

    /**
     * The stream is cut: what was sent in this direction before arrives, then a reset, and nothing behind it. So the
     * receiver has exactly the bytes up to the cut. The other end learns it later, and what it had under way is lost.
     */
    record Cut() implements OnConnection {}

    /**
     * What the connection has under way in this direction arrives later, or the datagram does, or the completion, and those behind
     * it in its queue.
     *
     * @param ns how much later
     */
    record Delay(long ns) implements OnConnection, OnDatagram, OnCompletion {
        /** Checks. */
        public Delay {
            Range.requireAtLeast(0, "ns", ns);
        }
    }

    /**
     * Nothing arrives in this direction, as behind a router that drops it. What is sent meanwhile arrives afterwards,
     * as TCP repeats it, unless the hosts have given the connection up by then (option {@code host-timeout}).
     *
     * @param ns how long; {@link #FOREVER}
     */
    record Stall(long ns) implements OnConnection {
        /** Checks. */
        public Stall {
            Range.requireAtLeast(1, "ns", ns);
        }
    }

    /**
     * The reader at the end of this direction takes few bytes, from now on: the sender's buffer fills, and TCP makes it
     * wait.
     *
     * @param bytes at most, in one piece
     * @param perNs time from one piece to the next
     */
    record Slow(int bytes, long perNs) implements OnConnection {
        /** Checks. */
        public Slow {
            Range.requireAtLeast(1, "bytes", bytes);
            Range.requireAtLeast(0, "perNs", perNs);
        }
    }

    /**
     * A bit of the next byte in this direction changes. Only CRC sees that.
     *
     * @param bit 0 to 7
     */
    record Corrupt(int bit) implements OnConnection {
        /** Checks. */
        public Corrupt {
            if (bit < 0 || bit >= Byte.SIZE) {
                throw new IllegalArgumentException("bit=" + bit + ": expected 0 to 7");
            }
        }
    }

    /** The datagram does not arrive, or the completion. */
    record Lose() implements OnDatagram, OnCompletion {}

    /** The datagram arrives once more. */
    record Repeat() implements OnDatagram {}

    /**
     * Nothing gets from one node to another, in either direction.
     *
     * @param one a node
     * @param other a node
     * @param ns how long
     */
    record Partition(String one, String other, long ns) implements What {
        /** Checks. */
        public Partition {
            Range.requireAtLeast(1, "ns", ns);
        }
    }

    /**
     * A node is a slow reader on all its connections, those to come too: see {@link Slow}.
     *
     * @param node which
     * @param bytes at most, in one piece of a connection
     * @param perNs time from one piece to the next
     */
    record SlowNode(String node, int bytes, long perNs) implements What {
        /** Checks. */
        public SlowNode {
            Range.requireAtLeast(1, "bytes", bytes);
            Range.requireAtLeast(0, "perNs", perNs);
        }
    }

    /**
     * The processes and devices of a node end; its kernel closes their connections.
     *
     * @param node which
     */
    record Kill(String node) implements What {}

    /**
     * A node loses its power.
     *
     * @param node which
     */
    record PowerOff(String node) implements What {}

    /**
     * A node stands still.
     *
     * @param node which
     * @param ns how long
     * @param devices its RNICs too, and not only its processes
     */
    record Pause(String node, long ns, boolean devices) implements What {
        /** Checks. */
        public Pause {
            Range.requireAtLeast(1, "ns", ns);
        }
    }

    /**
     * A node has no more than so much of something, from now on; what it has already stays. Asking for more is refused
     * with {@code NO_RESOURCES}, which is what ENOMEM of ibv_reg_mr(3) and ibv_create_qp(3) is here.
     *
     * @param node which
     * @param resource what
     * @param most at one time
     */
    record Quota(String node, Resource resource, long most) implements What {
        /** Checks. */
        public Quota {
            Range.requireAtLeast(0, "most", most);
        }
    }

    /**
     * A verb fails, and nothing is done.
     *
     * @param error what the program is told
     */
    record Refuse(VerbError error) implements OfCard {}

    /**
     * A completion says that its request has failed, though the peer may have served it, as if the acknowledgement had been lost.
     * The queue pair goes to ERR, and what follows is flushed.
     *
     * @param status what it says
     */
    record Fail(CompletionStatus status) implements OfCard, OnCompletion {
        /** Checks. */
        public Fail {
            if (status == CompletionStatus.SUCCESS) {
                throw new IllegalArgumentException("status=" + status + ": expected one of a failure");
            }
        }
    }

    /** The completion queue has no room for the completion, which is lost; the program is told of it as for a full queue. */
    record Overrun() implements OfCard, OnCompletion {}

    /**
     * The card's port is down: no packet leaves it or comes in, programs are told, and told again when it is up.
     *
     * @param ns how long; {@link #FOREVER}
     */
    record PortDown(long ns) implements OfCard {
        /** Checks. */
        public PortDown {
            Range.requireAtLeast(1, "ns", ns);
        }
    }

    /**
     * The card finds no RECV, whatever the program has posted: the peers of its connections are told that the receiver is not ready,
     * and datagrams are lost.
     *
     * @param ns how long; {@link #FOREVER}
     */
    record NoReceives(long ns) implements OfCard {
        /** Checks. */
        public NoReceives {
            Range.requireAtLeast(1, "ns", ns);
        }
    }
}
