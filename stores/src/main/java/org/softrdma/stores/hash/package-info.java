/**
 * Hashes and checksums that servers and clients of several designs share.
 *
 * <p>Owned by the thread that creates them. Read {@link org.softrdma.stores.hash.ChecksumPair} first.
 */
@NullMarked
package org.softrdma.stores.hash;

import org.jspecify.annotations.NullMarked;
