/**
 * The device against a peer that speaks iWARP by hand, over real sockets: every malformed input, every phase.
 *
 * <p>{@link org.softrdma.sim.peer.Frames} and {@link org.softrdma.sim.peer.RawPeer} share nothing with the classes under test.
 * A peer runs on the thread of its test. Read {@link org.softrdma.sim.peer.MalformedStreamTest} first.
 */
@NullMarked
package org.softrdma.sim.peer;

import org.jspecify.annotations.NullMarked;
