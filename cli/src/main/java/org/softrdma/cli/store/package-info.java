/**
 * The command {@code store}: a server process of any store of a paper that is on the class path.
 *
 * <p>The main thread waits, a thread {@code store} serves. Read {@link org.softrdma.cli.store.StoreCommand} first.
 */
@NullMarked
package org.softrdma.cli.store;

import org.jspecify.annotations.NullMarked;
