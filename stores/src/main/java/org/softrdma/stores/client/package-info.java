/**
 * What clients of all designs do the same way: they check what is asked, count what is outstanding and delivered, know
 * when something is due, and keep their operations.
 *
 * <p>Each object belongs to the thread of its client. Read {@link org.softrdma.stores.client.PollingStoreClient} first.
 */
@NullMarked
package org.softrdma.stores.client;

import org.jspecify.annotations.NullMarked;
