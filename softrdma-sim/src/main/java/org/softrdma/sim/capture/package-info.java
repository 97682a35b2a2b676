/**
 * Captures what connections and sockets for datagrams send and receive in a file for Wireshark: pcapng with synthesized IP, TCP and UDP headers.
 *
 * <p>A capture is a transport that wraps the real one. The event loops write to the file, one at a time. Read
 * {@link org.softrdma.sim.capture.CapturingTransport} first.
 */
@NullMarked
package org.softrdma.sim.capture;

import org.jspecify.annotations.NullMarked;
