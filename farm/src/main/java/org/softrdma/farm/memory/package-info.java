/**
 * FaRM's memory (Dragojevic et al., NSDI 2014, sections 3.1 to 3.5): regions of blocks of objects, and READs that take
 * no lock. An object has a header with a version and an incarnation, and the low bits of the version again at the start
 * of each further line of 64 bytes; it ends in a checksum if the device does not copy whole lines.
 *
 * <p>One thread changes the objects of a region; any thread or peer reads them. Read {@link
 * org.softrdma.farm.memory.FarmObjectDescriptor} first, then {@link org.softrdma.farm.memory.ObjectWriter} and {@link
 * org.softrdma.farm.memory.LockFreeReader}.
 */
@NullMarked
package org.softrdma.farm.memory;

import org.jspecify.annotations.NullMarked;
