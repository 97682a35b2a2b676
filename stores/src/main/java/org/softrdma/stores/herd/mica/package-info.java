/**
 * The store of a worker, after MICA (Lim, Han, Andersen, Kaminsky: MICA: A Holistic Approach to Fast In-Memory Key-Value
 * Storage, NSDI 2014) as HERD uses it: an index of buckets of eight, and a circular log. Both lose: the index the oldest
 * pair of a full bucket, the log its oldest pairs.
 *
 * <p>Owned by the worker's thread. Read {@link org.softrdma.stores.herd.mica.MicaTable} first.
 */
@NullMarked
package org.softrdma.stores.herd.mica;

import org.jspecify.annotations.NullMarked;
