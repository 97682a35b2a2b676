/** Tests of the connection manager: message by message, and two managers on a network that loses, doubles and reorders. */
@NullMarked
package org.softrdma.sim.roce.cm;

import org.jspecify.annotations.NullMarked;
