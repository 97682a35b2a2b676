/**
 * What a machine must have for a run, and what is to be done where it has not. Read {@link org.softrdma.run.host.HostCheck} first. Any
 * thread.
 */
@NullMarked
package org.softrdma.run.host;

import org.jspecify.annotations.NullMarked;
