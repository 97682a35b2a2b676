/**
 * Random walks on a fabric: the nodes are the fabric's, time is virtual, and what goes wrong is drawn from the seed
 * too.
 *
 * <p>The walk is a process of a node of its own, which has no device and never fails. Read {@link
 * org.softrdma.suites.walk.FabricWalk} first.
 */
@NullMarked
package org.softrdma.suites.walk;

import org.jspecify.annotations.NullMarked;
