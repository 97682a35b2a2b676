/**
 * The entrance for programs that are not written against verbs-api: unmodified C programs, whose memory is another
 * process's and whose queue pairs have the states that their owner sets. So far it is a shape: no wire carries their
 * requests yet (docs/design/wires.md, "Programs that are not ours").
 *
 * <p>Any thread, one at a time for each queue pair. Read {@link org.softrdma.sim.foreign.OwnedQueuePair} first; their
 * memory is {@link org.softrdma.sim.memory.ForeignProcess}'s.
 */
@NullMarked
package org.softrdma.sim.foreign;

import org.jspecify.annotations.NullMarked;
