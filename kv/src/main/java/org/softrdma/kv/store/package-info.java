/**
 * The items of the store and where they are found; no I/O, no threads, time is an argument.
 *
 * <p>Any thread may call {@link org.softrdma.kv.store.ItemStore}; peers READ the item bytes at the same time without asking.
 * Read {@link org.softrdma.kv.item.ItemDescriptor} first (what an item looks like), then ItemStore (in which order it changes).
 */
@NullMarked
package org.softrdma.kv.store;

import org.jspecify.annotations.NullMarked;
