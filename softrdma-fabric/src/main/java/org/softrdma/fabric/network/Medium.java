package org.softrdma.fabric.network;

import org.softrdma.fabric.scheduler.Scheduler;

/**
 * What carries the bytes of a connection.
 *
 * @param scheduler who runs when
 * @param settings what happens to what is carried
 * @param copier how bytes get in and out
 * @param reachability which hosts reach each other
 * @param inspector sees what is sent
 */
record Medium(
        Scheduler scheduler, NetworkSettings settings, Copier copier, Reachability reachability, Inspector inspector) {}
