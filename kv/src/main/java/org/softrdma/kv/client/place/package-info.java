/**
 * Where a server's items are, as far as a client knows: locators by key, and what the server's locators name.
 *
 * <p>Owned by the thread of the client. Read {@link org.softrdma.kv.client.place.LocatorCache} first, then {@link
 * org.softrdma.kv.client.place.Registration}.
 */
@NullMarked
package org.softrdma.kv.client.place;

import org.jspecify.annotations.NullMarked;
