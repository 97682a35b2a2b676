/**
 * FaRM's hash table (NSDI 2014, section 3.6): chained associative hopscotch hashing. A pair is in the bucket of its
 * key, in the next one, or in a chain of overflow blocks; so a lookup is one READ of two buckets, and rarely more.
 *
 * <p>The thread that owns a region changes the table in it; peers look up. Read {@link
 * org.softrdma.farm.table.FarmBucketDescriptor} first, then {@link org.softrdma.farm.table.TableShard} (changes) and
 * {@link org.softrdma.farm.table.NeighbourReader} (lookups).
 */
@NullMarked
package org.softrdma.farm.table;

import org.jspecify.annotations.NullMarked;
