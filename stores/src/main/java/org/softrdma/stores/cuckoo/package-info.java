/**
 * Cuckoo hashing without a table: it computes which residents have to move to make room for a key.
 *
 * <p>Owned by the thread that owns the table. Read {@link org.softrdma.stores.cuckoo.CuckooPath} first.
 */
@NullMarked
package org.softrdma.stores.cuckoo;

import org.jspecify.annotations.NullMarked;
