/**
 * How segments travel: as FPDUs on a TCP connection (MPA, RFC 5044). What they mean is not known here: a
 * {@link org.softrdma.sim.carrier.SegmentSource} puts them into a batch, a {@link org.softrdma.sim.carrier.SegmentSink}
 * takes them and says where their payload goes.
 *
 * <p>Engine thread only. Read {@link org.softrdma.sim.carrier.MpaOutbound} and
 * {@link org.softrdma.sim.carrier.MpaInbound} first.
 */
@NullMarked
package org.softrdma.sim.carrier;

import org.jspecify.annotations.NullMarked;
