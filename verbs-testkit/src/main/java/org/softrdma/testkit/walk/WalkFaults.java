package org.softrdma.testkit.walk;

/** What can go wrong between and at the nodes of a walk. The walk's thread. */
public interface WalkFaults {
    /** True if connections may end, and delays happen, without a call here: the environment has a plan of its own. */
    boolean unannounced();

    /** Resets every connection between two nodes. */
    void reset(int one, int other);

    /** Nothing gets from one node to another for a time. */
    void partition(int one, int other, long durationNs);

    /** A node stands still for a time, with its device. */
    void pause(int node, long durationNs);

    /** The processes of a node end, and its kernel closes their connections. */
    void kill(int node);

    /** A node loses its power. */
    void powerOff(int node);
}
