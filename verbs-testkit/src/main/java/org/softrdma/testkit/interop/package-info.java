/**
 * Cases of interoperation with a foreign RDMA stack: this side drives a scripted peer there (ci/vm.d/peer.py), which
 * READs, WRITEs and SENDs on demand and tells checksums of its memory. The caller's thread. Read {@link
 * org.softrdma.testkit.interop.ScriptedPeer} first.
 */
@NullMarked
package org.softrdma.testkit.interop;

import org.jspecify.annotations.NullMarked;
