/**
 * Faults of a run: which of a plan happen, and those of the network. Read {@link org.softrdma.run.faults.CardFaults} first. Runs on the
 * thread that answers calls, but for what the control socket asks.
 */
@NullMarked
package org.softrdma.run.faults;

import org.jspecify.annotations.NullMarked;
