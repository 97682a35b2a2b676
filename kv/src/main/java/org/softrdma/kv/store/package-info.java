/**
 * The items of the store and the index that finds them; no I/O, no threads, time is an argument.
 *
 * <p>Any thread may call {@link org.softrdma.kv.store.ItemStore}; peers READ the item bytes at the same time without
 * synchronisation. Read ItemStore first (the promise), then ItemTable (the steps of a change), ItemChanges and
 * ItemRoom; {@link org.softrdma.kv.item.ItemDescriptor} has the layout of an item.
 */
@NullMarked
package org.softrdma.kv.store;

import org.jspecify.annotations.NullMarked;
