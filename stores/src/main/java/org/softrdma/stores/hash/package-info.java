/**
 * Hashes and checksums that servers and clients of several designs compute alike.
 *
 * <p>Owned by the thread of whoever makes them. Read {@link org.softrdma.stores.hash.ChecksumPair} first.
 */
@NullMarked
package org.softrdma.stores.hash;

import org.jspecify.annotations.NullMarked;
