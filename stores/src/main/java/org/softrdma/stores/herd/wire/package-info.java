/**
 * The bytes of HERD: requests in their two forms, answers by SEND and by WRITE, and the first messages of a
 * connection.
 *
 * <p>Owned by the thread of whoever makes them. Read {@link org.softrdma.stores.herd.wire.HerdRequestDescriptor} first.
 */
@NullMarked
package org.softrdma.stores.herd.wire;

import org.jspecify.annotations.NullMarked;
