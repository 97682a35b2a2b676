package org.softrdma.sim.roce;

/** What the ports of RoCEv2 count, beside what every wire does; {@link #label()} is the name in snapshots. */
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
    /** Dropped: for a queue pair that there is not, most often one that has ended. */
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
    /** Packets of unreliable connections that never came, or not in order: those between what came before and after. */
    MISSING("roce.missing"),
    /** Dropped, on an unreliable connection: a packet that came behind one that was sent after it, or twice. */
    LATE("roce.late"),
    /** Dropped, on an unreliable connection: packets of a message of which an earlier one was missing or dropped. */
    INCOMPLETE("roce.incomplete"),
    /** Dropped, of an unreliable connection or a datagram: there was no RECV. */
    NO_RECEIVE("roce.noReceive"),
    /** Dropped, of an unreliable connection or a datagram: longer than the RECV. */
    TOO_LONG("roce.tooLong"),
    /** Dropped, on an unreliable connection: a WRITE to memory that the peer may not write. */
    ACCESS_REFUSED("roce.accessRefused"),
    /** Dropped, on an unreliable connection: a length that does not belong there. */
    WRONG_LENGTH("roce.wrongLength"),
    /** Dropped: a datagram with another queue key than that of its queue pair. */
    WRONG_QUEUE_KEY("roce.wrongQueueKey"),
    /** Messages of the connection manager that were lost because there was no room to send. */
    MESSAGES_LOST("roce.connectionMessagesLost");

    private final String label;

    RoceCounter(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }
}
