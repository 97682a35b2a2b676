/**
 * Makes failing runs smaller: fewer faults, smaller numbers, fewer steps.
 *
 * <p>Runs on the thread that calls, outside of a run. Read {@link org.softrdma.fabric.shrink.Shrinker} first.
 */
@NullMarked
package org.softrdma.fabric.shrink;

import org.jspecify.annotations.NullMarked;
