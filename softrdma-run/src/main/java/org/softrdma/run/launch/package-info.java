/**
 * Starts a program below a seccomp filter and waits for it. Read {@link org.softrdma.run.launch.Launcher} first. The thread that has the
 * filter makes linked calls only.
 */
@NullMarked
package org.softrdma.run.launch;

import org.jspecify.annotations.NullMarked;
