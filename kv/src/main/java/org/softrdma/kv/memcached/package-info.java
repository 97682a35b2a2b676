/**
 * memcached's text protocol as bytes: it decodes requests and encodes replies; no I/O, no store, no threads.
 *
 * <p>One connection owns a decoder. Read {@link org.softrdma.kv.memcached.TextDecoder} first, then {@link
 * org.softrdma.kv.memcached.TextRequest} for what a line may contain and {@code RequestParser} for what is refused.
 */
@NullMarked
package org.softrdma.kv.memcached;

import org.jspecify.annotations.NullMarked;
