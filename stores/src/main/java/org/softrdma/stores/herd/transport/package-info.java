/**
 * What carries requests and answers. {@link org.softrdma.stores.herd.transport.HerdChannel} is a client's end, {@link
 * org.softrdma.stores.herd.transport.HerdPeer} the server's. Classes that begin with {@code Rc} run over reliable
 * connections, those with {@code Uc} and {@code Ud} over unreliable ones and datagrams.
 *
 * <p>An end belongs to the thread of its client or server. Read {@link
 * org.softrdma.stores.herd.transport.HerdChannel} first.
 */
@NullMarked
package org.softrdma.stores.herd.transport;

import org.jspecify.annotations.NullMarked;
