/**
 * The messages of a stream (RDMAP, RFC 5040 and RFC 7306, in DDP segments, RFC 5041): one class for each kind says what it looks
 * like on the wire, what it needs from queues and memory, and how it is completed. How segments travel is not known
 * here.
 *
 * <p>Engine thread only. Read {@link org.softrdma.sim.rdmap.Outgoing} and {@link org.softrdma.sim.rdmap.Incoming} first: they pick
 * the kind, with one switch for each message. A new kind is a class here, which Outgoing makes, a case in each of those two, a {@link
 * org.softrdma.sim.wire.MessageKind} and its opcode.
 */
@NullMarked
package org.softrdma.sim.rdmap;

import org.jspecify.annotations.NullMarked;
