/**
 * Runs any RDMA program beside a card that is not there: the program runs below a seccomp filter, and this process answers what concerns
 * the card, as a kernel with SoftRoCE would. Read {@link org.softrdma.run.ProgramRun} first. A thread launches, and waits for the program;
 * another one answers.
 */
@NullMarked
package org.softrdma.run;

import org.jspecify.annotations.NullMarked;
