package org.softrdma.sim.fabric.fault;

import org.softrdma.sim.wire.MessageKind;

/** When a fault happens. Nodes are named; an asterisk stands for any. */
public sealed interface When {
    /** Any node. */
    String ANY = "*";

    /**
     * After so many bytes of one connection in one direction, so perhaps in the middle of a message.
     *
     * @param from node that sends
     * @param to node that receives
     * @param bytes sent before, from 0
     */
    record AfterBytes(String from, String to, long bytes) implements When {}

    /**
     * When a message begins, behind the first bytes of its header.
     *
     * @param from node that sends it
     * @param to node that receives it
     * @param kind what it is
     * @param number which of its kind on its connection and direction, from 1; 0 for each
     */
    record OnMessage(String from, String to, MessageKind kind, int number) implements When {}

    /**
     * When a datagram is sent.
     *
     * @param from node that sends it
     * @param to node that it is for
     * @param number which from the one to the other, from 1; 0 for each
     */
    record OnDatagram(String from, String to, int number) implements When {}

    /**
     * At a time.
     *
     * @param ns virtual nanoseconds since the beginning of the run
     */
    record AtTime(long ns) implements When {}
}
