package org.softrdma.fabric.fault;

import org.softrdma.sim.roce.wire.PacketKind;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.verbs.CompletionOpcode;

/**
 * When a fault happens. Nodes are named, and an asterisk stands for any; the connections between two nodes are numbered
 * from 1 in the order in which they were asked for, and 0 stands for each.
 */
public sealed interface When {
    /** Any node. */
    String ANY = "*";

    /** Each connection, each message. */
    int EACH = 0;

    /** On a connection, in one direction. */
    sealed interface OnConnection extends When {
        /** Node that sends. */
        String from();

        /** Node that receives. */
        String to();

        /** Which connection between the two, from 1; {@link #EACH}. */
        int connection();
    }

    /** When a program in {@code softrdma run} uses its card. */
    sealed interface ForVerbs extends When {}

    /** When a datagram is sent. */
    sealed interface ForDatagram extends When {
        /** Node that sends. */
        String from();

        /** Node that receives. */
        String to();
    }

    /**
     * After so many bytes of one connection in one direction, so perhaps in the middle of a message.
     *
     * @param from node that sends
     * @param to node that receives
     * @param bytes sent before, from 0
     * @param connection which of the two nodes' connections
     */
    record AfterBytes(String from, String to, long bytes, int connection) implements OnConnection {
        /** Checks. */
        public AfterBytes {
            Range.requireAtLeast(0, "bytes", bytes);
            Range.requireAtLeast(0, "connection", connection);
        }

        /** On each connection. */
        public AfterBytes(String from, String to, long bytes) {
            this(from, to, bytes, EACH);
        }
    }

    /**
     * When a message begins, behind the first bytes of its header.
     *
     * @param from node that sends it
     * @param to node that receives it
     * @param kind what it is
     * @param number which of its kind on its connection and direction, from 1; 0 for each
     * @param connection which of the two nodes' connections
     */
    record OnMessage(String from, String to, MessageKind kind, int number, int connection) implements OnConnection {
        /** Checks. */
        public OnMessage {
            Range.requireAtLeast(0, "number", number);
            Range.requireAtLeast(0, "connection", connection);
        }

        /** On each connection. */
        public OnMessage(String from, String to, MessageKind kind, int number) {
            this(from, to, kind, number, EACH);
        }
    }

    /**
     * When the message of a request begins: the SEND, the WRITE, the READ request or the Atomic Request that a work
     * request was posted for; each of the two of a WRITE with immediate. The wrId is the application's, so it may come
     * again; {@link Fault#skipped()} chooses among its messages.
     *
     * @param from node where it was posted
     * @param to node that receives it
     * @param wrId of the work request
     * @param connection which of the two nodes' connections
     */
    record OnRequest(String from, String to, long wrId, int connection) implements OnConnection {
        /** Checks. */
        public OnRequest {
            Range.requireAtLeast(0, "connection", connection);
        }

        /** On each connection. */
        public OnRequest(String from, String to, long wrId) {
            this(from, to, wrId, EACH);
        }
    }

    /**
     * When a datagram is sent.
     *
     * @param from node that sends it
     * @param to node that it is for
     * @param number which from the one to the other, from 1; 0 for each
     */
    record OnDatagram(String from, String to, int number) implements ForDatagram {
        /** Checks. */
        public OnDatagram {
            Range.requireAtLeast(0, "number", number);
        }
    }

    /**
     * When a packet of RoCEv2 is sent, also one that is sent again.
     *
     * @param from node that sends it
     * @param to node that it is for
     * @param kind what it is
     * @param number which of its kind from the one to the other, from 1; 0 for each
     */
    record OnPacket(String from, String to, PacketKind kind, int number) implements ForDatagram {
        /** Checks. */
        public OnPacket {
            Range.requireAtLeast(0, "number", number);
        }
    }

    /**
     * When a program calls a verb.
     *
     * @param verb which
     * @param number which call of it in the run, from 1; 0 for each
     */
    record OnVerb(Verb verb, int number) implements ForVerbs {
        /** Checks. */
        public OnVerb {
            Range.requireAtLeast(0, "number", number);
        }
    }

    /**
     * When a request of a program has succeeded, and its completion is about to be written.
     *
     * @param operation what was done
     * @param number which completion of it in the run, from 1; 0 for each
     */
    record OnCompletion(CompletionOpcode operation, int number) implements ForVerbs {
        /** Checks. */
        public OnCompletion {
            Range.requireAtLeast(0, "number", number);
        }
    }

    /**
     * At a time.
     *
     * @param ns virtual nanoseconds since the beginning of the run; those of the clock where programs run as they are
     */
    record AtTime(long ns) implements When {
        /** Checks. */
        public AtTime {
            Range.requireAtLeast(0, "ns", ns);
        }
    }
}
