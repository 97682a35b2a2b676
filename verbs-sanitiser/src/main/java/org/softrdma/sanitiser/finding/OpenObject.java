package org.softrdma.sanitiser.finding;

import java.util.List;

/**
 * An object that is not closed yet.
 *
 * @param number unique, in the order of creation
 * @param device number of the device that made it, in the order in which devices were wrapped
 * @param what it is, for people
 * @param outlivesDevice true of memory, which may be closed after its device, and of the device itself
 * @param createdAt the calls that created it, innermost first
 */
public record OpenObject(
        long number, int device, String what, boolean outlivesDevice, List<StackTraceElement> createdAt) {}
