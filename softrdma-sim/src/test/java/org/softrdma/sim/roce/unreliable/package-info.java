/** Tests of unreliable connections and datagrams without sockets. */
@NullMarked
package org.softrdma.sim.roce.unreliable;

import org.jspecify.annotations.NullMarked;
