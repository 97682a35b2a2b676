/**
 * What this provider adds to {@link org.softrdma.ibverbs.device}: {@link org.softrdma.disni.library.DisniLibrary}'s
 * objects, prepared calls, waits in slices. Application threads call in; one thread per device ({@code
 * DisniConnectionManager}) waits for connection events, one per armed completion queue for completion events. Read
 * {@code DisniQueuePair} first.
 */
@NullMarked
package org.softrdma.disni.device;

import org.jspecify.annotations.NullMarked;
