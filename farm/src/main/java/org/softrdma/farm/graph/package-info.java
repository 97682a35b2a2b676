/**
 * A graph over the machines of an address space, with the operations of Facebook's Tao (section 6.4 of the paper): objects
 * that point to lists of their associations, which are on the same machine. Reads are READs, or functions that are shipped;
 * changes are transactions. Read {@link org.softrdma.farm.graph.FarmGraph} first.
 */
@NullMarked
package org.softrdma.farm.graph;

import org.jspecify.annotations.NullMarked;
