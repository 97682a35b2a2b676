/**
 * What connections send and receive, written to a file that Wireshark opens: pcapng with synthesized IP and TCP headers.
 *
 * <p>A transport around the real one, there only when it is asked for; its sockets' event loops write, one at a time. Read
 * {@link org.softrdma.sim.capture.CapturingTransport} first.
 */
@NullMarked
package org.softrdma.sim.capture;

import org.jspecify.annotations.NullMarked;
