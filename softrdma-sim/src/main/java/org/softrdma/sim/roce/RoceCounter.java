package org.softrdma.sim.roce;

import org.softrdma.sim.roce.unreliable.Drop;

/** What the ports of RoCEv2 count, beside what every wire does and {@link Drop}; {@link #label()} is the name in snapshots. */
enum RoceCounter {
    /** Packets received. */
    PACKETS_RECEIVED("roce.packetsReceived"),
    /** Packets given to the kernel. */
    PACKETS_SENT("roce.packetsSent"),
    /** Dropped: headers or lengths that do not fit together, an unknown opcode or version. */
    MALFORMED("roce.malformed"),
    /** Dropped: of another partition. */
    WRONG_PARTITION("roce.wrongPartition"),
    /** Dropped: of a transport that the queue pair does not have, or no message of the connection manager. */
    WRONG_TRANSPORT("roce.wrongTransport"),
    /** Dropped: for a queue pair that there is not, most often one that has ended, or that is not connected yet. */
    UNKNOWN_QUEUE_PAIR("roce.unknownQueuePair"),
    /** Dropped: for a queue pair whose peer has another address. */
    FOREIGN_SOURCE("roce.foreignSource"),
    /** Dropped: damaged. */
    ICRC_ERRORS("roce.icrcErrors"),
    /** Packets sent again. */
    RETRANSMITTED("roce.retransmitted"),
    /** Times that nothing was heard for so long that packets were sent again. */
    TIMEOUTS("roce.timeouts"),
    /** Packets of peers that repeated what was executed, as do questions whether this side is there. */
    DUPLICATES("roce.duplicates"),
    /** Packets of peers behind one that was missing. */
    OUT_OF_SEQUENCE("roce.outOfSequence"),
    /** Dropped: answers to what was answered before, or never asked; those to questions whether a peer is there, too. */
    LATE_ANSWERS("roce.lateAnswers"),
    /** Dropped: answers before which one with data is missing, which is asked for again. */
    SKIPPING_ANSWERS("roce.skippingAnswers"),
    /** Answers that were not given, because too many waited: a peer that repeats requests faster than answers go. */
    ANSWERS_WITHOUT_ROOM("roce.answersWithoutRoom"),
    /** Times that a connection began to have fewer packets on its way, because some were lost. */
    SLOWDOWNS("roce.slowdowns"),
    /** Messages of the connection manager that were lost because there was no room to send, or no memory. */
    MESSAGES_LOST("roce.connectionMessagesLost"),
    /** Datagrams that arrived and that the kernel dropped, most for want of room in the socket. Not on java.nio. */
    SOCKET_DROPPED("roce.socketDropped"),
    /** Datagrams that the kernel refused to send: it has no way to the peer, or a packet is too long for it. */
    SOCKET_REFUSED("roce.socketRefused");

    private final String label;

    RoceCounter(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }
}
