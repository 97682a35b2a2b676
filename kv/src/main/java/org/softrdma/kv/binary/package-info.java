/**
 * memcached's binary protocol as bytes: it decodes requests and encodes answers; no I/O, no store, no threads.
 *
 * <p>One connection owns a decoder. Read {@link org.softrdma.kv.binary.FrameDescriptor} first, then
 * {@link org.softrdma.kv.binary.BinaryOperation} for what a request may look like and
 * {@link org.softrdma.kv.binary.BinaryDecoder} for how it is found.
 */
@NullMarked
package org.softrdma.kv.binary;

import org.jspecify.annotations.NullMarked;
