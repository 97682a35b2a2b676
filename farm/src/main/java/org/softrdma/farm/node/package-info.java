/**
 * A machine of FaRM's address space: connections to the others, messages by WRITE into their rings, READs of their
 * regions, and what applications ask for.
 *
 * <p>One thread per node does everything ({@code FarmNode.doWork}); applications on any thread hand over tasks and wait.
 * Read {@link org.softrdma.farm.node.FarmNode} first, then {@code Peers}.
 */
@NullMarked
package org.softrdma.farm.node;

import org.jspecify.annotations.NullMarked;
