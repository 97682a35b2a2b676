/**
 * Servers under a load: starting one as a child process, storing pairs in it, asking for its version and its CPU time.
 *
 * <p>Everything belongs to the thread of the study; a server is a process of its own. Read {@link
 * org.softrdma.bench.server.ServerProcess} first.
 */
@NullMarked
package org.softrdma.bench.server;

import org.jspecify.annotations.NullMarked;
