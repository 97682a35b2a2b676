package org.softrdma.testkit.walk;

import java.net.InetAddress;
import java.util.Optional;
import org.softrdma.testkit.TimeOfRun;
import org.softrdma.verbs.device.VerbsDevice;

/** Where a walk takes place: devices, time, a second thread, and what may go wrong there. The walk's thread. */
public interface WalkEnvironment extends TimeOfRun {
    /**
     * Opens the device of a node. The walk closes it.
     *
     * @param node from 0
     */
    VerbsDevice open(int node);

    /**
     * Where a node is reached.
     *
     * @param node from 0
     */
    InetAddress address(int node);

    /** True if a key that a closed region had may be another's soon: then nobody may use it any more. */
    boolean reusesKeys();

    /** Starts a thread beside the walk's. */
    void start(String name, Runnable work);

    /** What goes wrong when the walk says so; empty if nothing can. */
    Optional<WalkFaults> faults();
}
