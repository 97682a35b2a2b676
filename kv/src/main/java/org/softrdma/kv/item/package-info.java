/**
 * An item as client and server both see it: its layout in registered memory, its checksums, its locator, the hash of its key.
 *
 * <p>Static functions over memory that the caller owns; no threads, no I/O. Read {@link org.softrdma.kv.item.ItemDescriptor}
 * first, then {@link org.softrdma.kv.item.Locator}.
 */
@NullMarked
package org.softrdma.kv.item;

import org.jspecify.annotations.NullMarked;
