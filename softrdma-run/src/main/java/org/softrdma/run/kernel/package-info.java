/**
 * Linux as this module uses it: its calls by number, the calls that a program's seccomp filter hands over, and what is done for them.
 * {@link org.softrdma.run.kernel.ProgramKernel} is the seam: Linux behind it, or a script in tests. Runs on the thread that answers calls,
 * unless a class says otherwise.
 */
@NullMarked
package org.softrdma.run.kernel;

import org.jspecify.annotations.NullMarked;
