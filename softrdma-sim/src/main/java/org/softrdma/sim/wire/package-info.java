/**
 * iWARP as bytes: MPA (RFC 5044, RFC 6581), DDP (RFC 5041) and RDMAP (RFC 5040). Pure layouts and codes, no state and
 * no I/O.
 *
 * <p>Everything is big endian unless said otherwise. Read {@link org.softrdma.sim.wire.Ddp} first, then {@link
 * org.softrdma.sim.wire.MpaFrame}. Any thread.
 */
@NullMarked
package org.softrdma.sim.wire;

import org.jspecify.annotations.NullMarked;
