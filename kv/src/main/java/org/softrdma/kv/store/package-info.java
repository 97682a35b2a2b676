/**
 * The items of the store and where they are found; no I/O, no threads, time is an argument.
 *
 * <p>Any thread may call {@link org.softrdma.kv.store.ItemStore}; peers READ the item bytes at the same time without
 * asking. Read ItemStore first (the promise), then ItemTable (the steps of a change), ItemChanges and ItemRoom; what
 * an item looks like is in {@link org.softrdma.kv.item.ItemDescriptor}.
 */
@NullMarked
package org.softrdma.kv.store;

import org.jspecify.annotations.NullMarked;
