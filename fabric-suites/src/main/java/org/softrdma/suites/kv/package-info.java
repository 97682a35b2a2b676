/**
 * The store on the fabric: its server and its clients with the fabric's network, clock, random numbers and threads, so
 * that one seed gives one trace. The server's port and channels are those of production.
 *
 * <p>Everything runs on the thread that the scheduler runs. Read {@link org.softrdma.suites.kv.FabricStore} first.
 */
@NullMarked
package org.softrdma.suites.kv;

import org.jspecify.annotations.NullMarked;
