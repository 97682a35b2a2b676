/**
 * {@code softrdma rping}: rping of rdmacm-utils over the verbs API, message for message, so that either end may be the original.
 *
 * <p>The thread that calls owns everything; a persistent server gives each client a thread where the device allows it. Read
 * {@link org.softrdma.bench.rping.RpingServer} first, then {@link org.softrdma.bench.rping.RpingClient}.
 */
@NullMarked
package org.softrdma.bench.rping;

import org.jspecify.annotations.NullMarked;
