/**
 * The verbs objects of a sanitised device: each wraps the provider's, tells {@link org.softrdma.sanitiser.watch} what
 * the program does, and passes the call on.
 *
 * <p>On the program's threads. The objects keep the promises of the API about threads, but they take locks and
 * allocate. Read {@link org.softrdma.sanitiser.device.SanitisedQueuePair} first.
 */
@NullMarked
package org.softrdma.sanitiser.device;

import org.jspecify.annotations.NullMarked;
