/**
 * The adversary above memory: what verbs allow a device to do, and the software RNIC does not do by itself. Programs
 * that rely on more than verbs promise fail by it.
 *
 * <p>Everything runs on the thread that the scheduler runs. Read {@link org.softrdma.fabric.adversary.Habit} first.
 */
@NullMarked
package org.softrdma.fabric.adversary;

import org.jspecify.annotations.NullMarked;
