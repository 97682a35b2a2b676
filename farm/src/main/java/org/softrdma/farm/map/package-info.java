/**
 * A hash table over the machines of an address space: lookups by READs, changes by functions that are shipped. Any thread
 * calls it; functions run on the node's thread. Read {@link org.softrdma.farm.map.FarmMap} first.
 */
@NullMarked
package org.softrdma.farm.map;

import org.jspecify.annotations.NullMarked;
