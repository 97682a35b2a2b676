/**
 * The server beside memcached itself: the same bytes to both, and their answers compared.
 *
 * <p>The test's thread. Read {@link org.softrdma.kv.parity.Fuzzer} first; what may differ is in {@link
 * org.softrdma.kv.parity.KnownDifference}.
 */
@NullMarked
package org.softrdma.kv.parity;

import org.jspecify.annotations.NullMarked;
