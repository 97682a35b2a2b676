/**
 * What a client knows about where a server's items are: locators by key, and the memory to which the server's locators
 * refer.
 *
 * <p>Owned by the thread of the client. Read {@link org.softrdma.kv.client.place.LocatorCache} first, then {@link
 * org.softrdma.kv.client.place.Registration}.
 */
@NullMarked
package org.softrdma.kv.client.place;

import org.jspecify.annotations.NullMarked;
