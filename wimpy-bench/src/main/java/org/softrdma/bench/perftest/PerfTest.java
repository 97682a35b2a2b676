package org.softrdma.bench.perftest;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.SendOpcode;

/** The tests of perftest that the verbs API can run. */
public enum PerfTest {
    /** {@code ib_read_lat}: the round trip of one READ. */
    READ_LATENCY(1, "read-lat", "RDMA_Read Latency Test", SendOpcode.READ, true),
    /** {@code ib_read_bw}. */
    READ_BANDWIDTH(2, "read-bw", "RDMA_Read BW Test", SendOpcode.READ, false),
    /**
     * {@code ib_write_lat}, half of a ping-pong. Each side WRITEs and sends an empty SEND behind it; the other side answers
     * when its RECV completes. perftest polls the last byte of the memory instead, which relies on data arriving in order
     * and on memory that a processor sees without a completion: no transport here promises that, so a figure of this test
     * includes one more message than perftest's.
     */
    WRITE_LATENCY(
            3, "write-lat", "RDMA_Write Latency Test (WRITE and an empty SEND behind it)", SendOpcode.WRITE, true),
    /** {@code ib_write_bw}; ends with a READ behind the last WRITE, so that all data has arrived. */
    WRITE_BANDWIDTH(4, "write-bw", "RDMA_Write BW Test", SendOpcode.WRITE, false),
    /** {@code ib_send_lat}: half of a ping-pong. */
    SEND_LATENCY(5, "send-lat", "Send Latency Test", SendOpcode.SEND, true),
    /** {@code ib_send_bw}; the receiver grants credits, because a SEND that finds no RECV may end the connection. */
    SEND_BANDWIDTH(6, "send-bw", "Send BW Test", SendOpcode.SEND, false),
    /** {@code ib_atomic_lat}: the round trip of one atomic, a fetch-and-add unless the options say otherwise. */
    ATOMIC_LATENCY(7, "atomic-lat", "Atomic %s Latency Test", SendOpcode.FETCH_AND_ADD, true),
    /** {@code ib_atomic_bw}. */
    ATOMIC_BANDWIDTH(8, "atomic-bw", "Atomic %s BW Test", SendOpcode.FETCH_AND_ADD, false),
    /**
     * {@code ib_write_lat} as it is: half of a ping-pong by WRITE, whose last word both sides poll. Only for devices that
     * promise that this word comes last.
     */
    ECHO(9, "echo", "RDMA_Write Latency Test (a WRITE polled at both ends)", SendOpcode.WRITE, true),
    /** {@code ib_write_bw --write_with_imm}: each WRITE takes a RECV of the peer, so there are credits as for SENDs. */
    WRITE_IMMEDIATE_BANDWIDTH(
            10, "write-imm-bw", "RDMA_Write_With_Immediate BW Test", SendOpcode.WRITE_IMMEDIATE, false);

    private final int number;
    private final String command;
    private final String title;
    private final SendOpcode opcode;
    private final boolean latency;

    PerfTest(int number, String command, String title, SendOpcode opcode, boolean latency) {
        this.number = number;
        this.command = command;
        this.title = title;
        this.opcode = opcode;
        this.latency = latency;
    }

    /** The name on the command line. */
    public String command() {
        return command;
    }

    /** Its number in a {@link PerfMessage#HELLO}. */
    public int number() {
        return number;
    }

    /**
     * The name of the test with a number, for messages.
     *
     * @param number from a {@link PerfMessage#HELLO}
     */
    static String commandOf(long number) {
        for (PerfTest test : values()) {
            if (test.number == number) {
                return test.command;
            }
        }
        return "test " + number;
    }

    /**
     * The title above the table.
     *
     * @param operation the operation measured, by its name in perftest
     */
    String title(String operation) {
        return String.format(Locale.ROOT, title, operation);
    }

    /** The operation measured; of an atomic test it may also be the other atomic. */
    public SendOpcode opcode() {
        return opcode;
    }

    /** True if it measures latency, false if bandwidth. */
    public boolean isLatency() {
        return latency;
    }

    /** What both devices must have for it; empty if every device can run it. */
    Optional<Feature> feature() {
        return this == ECHO ? Optional.of(Feature.ORDERED_PLACEMENT) : opcode.feature();
    }

    /**
     * Rights of the memory besides those of every test.
     *
     * @param server true for the server's memory
     */
    Set<AccessFlag> access(boolean server) {
        if (this == ECHO) {
            return Set.of(AccessFlag.POLLED);
        }
        return server && opcode.isAtomic() ? Set.of(AccessFlag.REMOTE_ATOMIC) : Set.of();
    }

    /** True if any number of initiators can run it against one server: its program does nothing, and knows the first only. */
    boolean takesInitiators() {
        return this == WRITE_BANDWIDTH || opcode.isAnswered();
    }

    /** True if two messages cross per operation measured, so that half of the round trip is reported. */
    boolean isPingPong() {
        return latency && !opcode.isAnswered();
    }
}
