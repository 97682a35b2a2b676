/**
 * Registered memory for the store: arenas of a device, and how clients READ the items in them.
 *
 * <p>Thread-safe, because any thread that stores an item may need another page. Read {@link
 * org.softrdma.kv.server.memory.DeviceArenas} first, then the two registrations, {@code RegisteredArenas} and {@code
 * RegisteredChunks}.
 */
@NullMarked
package org.softrdma.kv.server.memory;

import org.jspecify.annotations.NullMarked;
