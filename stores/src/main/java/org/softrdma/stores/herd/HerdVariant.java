package org.softrdma.stores.herd;

import org.softrdma.stores.Protocol;
import org.softrdma.stores.herd.transport.HerdAnswers;

/**
 * A design that is built of requests in slots. Immutable.
 *
 * @param name of the design
 * @param protocol form of the requests
 * @param answers how they come
 */
record HerdVariant(String name, Protocol protocol, HerdAnswers answers) {}
