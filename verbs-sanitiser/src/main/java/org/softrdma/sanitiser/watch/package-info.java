/**
 * What the sanitiser remembers: regions, outstanding requests and the memory that they name, which queue pair is
 * connected to which, and what is open.
 *
 * <p>Any thread; each class says what its lock holds together. A queue pair's lock is taken before that of the memory
 * table, and no lock is held while a finding is reported. Read {@link
 * org.softrdma.sanitiser.watch.QueuePairWatch} first.
 */
@NullMarked
package org.softrdma.sanitiser.watch;

import org.jspecify.annotations.NullMarked;
