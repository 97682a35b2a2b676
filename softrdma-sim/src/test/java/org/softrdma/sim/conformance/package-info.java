/**
 * The conformance suite on every transport and progress mode of the software RNIC.
 *
 * <p>Each test is a whole run on its own thread, which owns the requester's device in manual progress. Read {@link
 * org.softrdma.sim.conformance.SoftRdmaConformanceTest} first.
 */
@NullMarked
package org.softrdma.sim.conformance;

import org.jspecify.annotations.NullMarked;
