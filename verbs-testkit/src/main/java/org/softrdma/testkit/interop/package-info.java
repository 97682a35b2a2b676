/**
 * Interoperation with another RDMA stack: this side drives a scripted peer on it (ci/vm.d/peer.py), which READs, WRITEs
 * and SENDs on demand and reports checksums of its memory. Everything runs on the caller's thread. Read {@link
 * org.softrdma.testkit.interop.ScriptedPeer} first.
 */
@NullMarked
package org.softrdma.testkit.interop;

import org.jspecify.annotations.NullMarked;
