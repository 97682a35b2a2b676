/**
 * {@code softrdma run}: any RDMA program beside a card that is not there. What it does is in {@code org.softrdma.run}. Read
 * {@link org.softrdma.cli.run.RunCommand} first. Runs on the main thread.
 */
@NullMarked
package org.softrdma.cli.run;

import org.jspecify.annotations.NullMarked;
