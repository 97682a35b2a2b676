/**
 * What carries requests and answers. {@link org.softrdma.stores.herd.transport.HerdChannel} is a client's end, {@link
 * org.softrdma.stores.herd.transport.HerdPeer} the server's. They run over reliable connections.
 *
 * <p>An end belongs to the thread of its client or server. Read {@link
 * org.softrdma.stores.herd.transport.HerdChannel} first.
 */
@NullMarked
package org.softrdma.stores.herd.transport;

import org.jspecify.annotations.NullMarked;
