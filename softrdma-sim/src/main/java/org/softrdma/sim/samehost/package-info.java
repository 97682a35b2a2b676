/**
 * READs between two processes of one user on one host, by memory that both have mapped: the requester's own thread
 * copies, and the responder does nothing, even when it is stopped. Everything else goes over TCP, and so does every READ
 * until the mappings are there. docs/design/same-host.md has the protocol, and who trusts whom.
 * <p><b>Responder.</b> ShareableMemory allocates what may be shown; SharedTable repeats the rows of the stag table that
 * lie in it. AcceptedPeers knows the connections that were accepted. A HandoverServer, with one thread for each listener,
 * answers at a Unix socket and hands descriptors to those peers and nobody else.
 * <p><b>Requester.</b> PeerMemory holds what a peer has handed over and reads from it; HandoverClient asks for it, on the
 * device's one background thread.
 * <p>Nothing here is on the path of a READ but {@link org.softrdma.sim.samehost.PeerMemory}. Read {@link
 * org.softrdma.sim.samehost.SameHost} first.
 */
@NullMarked
package org.softrdma.sim.samehost;

import org.jspecify.annotations.NullMarked;
