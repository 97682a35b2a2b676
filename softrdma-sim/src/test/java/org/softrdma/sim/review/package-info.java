/**
 * Faults that a maintainer of an iWARP stack found by reading, each held by a test named after the behaviour.
 *
 * <p>The peer speaks by hand ({@link org.softrdma.sim.review.RecordingPeer}, or that of {@code org.softrdma.sim.peer}), over real
 * sockets, on the thread of its test. Read {@link org.softrdma.sim.review.AbandonedStreamTest} first.
 */
@NullMarked
package org.softrdma.sim.review;

import org.jspecify.annotations.NullMarked;
