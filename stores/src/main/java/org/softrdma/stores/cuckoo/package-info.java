/**
 * Cuckoo hashing without a table: which residents have to move so that a key finds room.
 *
 * <p>Owned by the thread of whoever owns the table. Read {@link org.softrdma.stores.cuckoo.CuckooPath} first.
 */
@NullMarked
package org.softrdma.stores.cuckoo;

import org.jspecify.annotations.NullMarked;
