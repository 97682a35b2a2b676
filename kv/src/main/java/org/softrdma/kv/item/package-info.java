/**
 * An item as client and server both see it: its layout in registered memory, checksums, locator, and the hash of its
 * key.
 *
 * <p>Functions over memory that the caller owns; no threads, no I/O. Read {@link org.softrdma.kv.item.ItemDescriptor}
 * first, then {@link org.softrdma.kv.item.ItemWriter}.
 */
@NullMarked
package org.softrdma.kv.item;

import org.jspecify.annotations.NullMarked;
