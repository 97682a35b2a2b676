/**
 * The store of a worker of NessieSD, the server-driven form of Nessie (Szepesi, Cassell, Wong, Brecht, Liu: technical
 * report CS-2015-09, University of Waterloo, 2015, section 5): an index table, with cuckoo hashing, whose words lead to
 * the entries of a data table on the same node.
 *
 * <p>Owned by the worker's thread. Read {@link org.softrdma.stores.herd.sd.NessieSdTable} first.
 */
@NullMarked
package org.softrdma.stores.herd.sd;

import org.jspecify.annotations.NullMarked;
