package org.softrdma.sim.flight;

import java.util.function.Supplier;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/**
 * Events of the soft RNIC for Java Flight Recorder, in the category {@code softrdma}. The page docs/reference/counters.md
 * lists them. Any thread.
 *
 * <p>Recording never fails: there may be no memory for an event of what that has caused, and whoever tells of it must go on.
 */
@SuppressWarnings("UnusedVariable") // the recorder reads the fields of events
public final class Flight {
    private static final String CATEGORY = "softrdma";

    private Flight() {}

    /**
     * A connection is established.
     *
     * @param queuePair number of its queue pair
     * @param wire what both ends agreed on, for people
     */
    public static void connectionMade(int queuePair, Supplier<String> wire) {
        try {
            ConnectionMade event = new ConnectionMade();
            if (event.shouldCommit()) {
                event.queuePair = queuePair;
                event.wire = wire.get();
                event.commit();
            }
        } catch (RuntimeException | Error e) {
            // The recording lacks an event.
        }
    }

    /**
     * An established connection has ended.
     *
     * @param queuePair number of its queue pair
     * @param reason for people
     */
    public static void connectionEnded(int queuePair, String reason) {
        try {
            ConnectionEnded event = new ConnectionEnded();
            if (event.shouldCommit()) {
                event.queuePair = queuePair;
                event.reason = reason;
                event.commit();
            }
        } catch (RuntimeException | Error e) {
            // The recording lacks an event.
        }
    }

    /**
     * The peer has used a wrong key, left the range or lacked the right, and is about to lose its connection.
     *
     * @param queuePair number of the queue pair here
     */
    public static void accessRefused(int queuePair) {
        try {
            AccessRefused event = new AccessRefused();
            if (event.shouldCommit()) {
                event.queuePair = queuePair;
                event.commit();
            }
        } catch (RuntimeException | Error e) {
            // The recording lacks an event.
        }
    }

    /**
     * An error other than a refused access is about to cost a connection.
     *
     * @param queuePair number of its queue pair
     * @param error what went wrong, for people
     */
    public static void connectionLost(int queuePair, String error) {
        try {
            ConnectionError event = new ConnectionError();
            if (event.shouldCommit()) {
                event.queuePair = queuePair;
                event.error = error;
                event.commit();
            }
        } catch (RuntimeException | Error e) {
            // The recording lacks an event.
        }
    }

    /**
     * Pages are pinned.
     *
     * @param address of the first page of their granule
     * @param bytes that were pinned
     * @param reason why
     */
    public static void pinned(long address, long bytes, Enum<?> reason) {
        try {
            PagesPinned event = new PagesPinned();
            if (event.shouldCommit()) {
                event.address = address;
                event.bytes = bytes;
                event.reason = reason.name();
                event.commit();
            }
        } catch (RuntimeException | Error e) {
            // The recording lacks an event.
        }
    }

    /**
     * Pages are evicted: they are not used any more and will be unpinned.
     *
     * @param address of the first page of their granule
     * @param bytes that were pinned lazily
     */
    public static void evicted(long address, long bytes) {
        try {
            PagesEvicted event = new PagesEvicted();
            if (event.shouldCommit()) {
                event.address = address;
                event.bytes = bytes;
                event.commit();
            }
        } catch (RuntimeException | Error e) {
            // The recording lacks an event.
        }
    }

    /**
     * Runs a wait for the engines, until which a deregistration cannot end.
     *
     * @param wait what to do
     */
    public static void deregistering(Runnable wait) {
        DeregistrationWait event = new DeregistrationWait();
        event.begin();
        wait.run();
        event.commit();
    }

    @Name("org.softrdma.ConnectionMade")
    @Label("Connection made")
    @Category(CATEGORY)
    @StackTrace(false)
    private static final class ConnectionMade extends Event {
        @Label("Queue pair")
        int queuePair;

        @Label("Wire")
        String wire = "";
    }

    @Name("org.softrdma.ConnectionEnded")
    @Label("Connection ended")
    @Category(CATEGORY)
    @StackTrace(false)
    private static final class ConnectionEnded extends Event {
        @Label("Queue pair")
        int queuePair;

        @Label("Reason")
        String reason = "";
    }

    @Name("org.softrdma.AccessRefused")
    @Label("Access refused")
    @Description("A peer used a wrong key, left the range or lacked the right")
    @Category(CATEGORY)
    @StackTrace(false)
    private static final class AccessRefused extends Event {
        @Label("Queue pair")
        int queuePair;
    }

    @Name("org.softrdma.ConnectionError")
    @Label("Error that cost a connection")
    @Category(CATEGORY)
    @StackTrace(false)
    private static final class ConnectionError extends Event {
        @Label("Queue pair")
        int queuePair;

        @Label("Error")
        String error = "";
    }

    @Name("org.softrdma.PagesPinned")
    @Label("Pages pinned")
    @Category(CATEGORY)
    @StackTrace(false)
    private static final class PagesPinned extends Event {
        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Reason")
        String reason = "";
    }

    @Name("org.softrdma.PagesEvicted")
    @Label("Pages evicted")
    @Category(CATEGORY)
    @StackTrace(false)
    private static final class PagesEvicted extends Event {
        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Bytes")
        @DataAmount
        long bytes;
    }

    @Name("org.softrdma.DeregistrationWait")
    @Label("Deregistration waited")
    @Description("A deregistration waited until no engine used the memory")
    @Category(CATEGORY)
    @Threshold("1 ms")
    private static final class DeregistrationWait extends Event {}
}
