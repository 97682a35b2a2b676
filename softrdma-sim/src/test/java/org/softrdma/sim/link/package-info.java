/** Tests of the seam between queue pairs and what carries their requests. */
@NullMarked
package org.softrdma.sim.link;

import org.jspecify.annotations.NullMarked;
