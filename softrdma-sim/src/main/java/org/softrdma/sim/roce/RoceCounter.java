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
    /** Dropped: of a transport that the queue pair does not have, or a wrong queue key. */
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
