/**
 * What this provider adds to {@link org.softrdma.ibverbs.device}: C objects by pointer, work requests written to
 * native memory, asynchronous events. Application threads call in; one thread per device ({@code
 * CoreConnectionManager}) waits for connection and asynchronous events. Read {@code CoreQueuePair} first.
 */
@NullMarked
package org.softrdma.rdmacore.device;

import org.jspecify.annotations.NullMarked;
