/**
 * The study of pinning: what lazy pinning costs and saves, from registration to a server whose items exceed its memory.
 *
 * <p>Load and study run on one thread of this process; the measured servers are child processes. Read {@link
 * org.softrdma.bench.pinning.PinningStudy} first.
 */
@NullMarked
package org.softrdma.bench.pinning;

import org.jspecify.annotations.NullMarked;
