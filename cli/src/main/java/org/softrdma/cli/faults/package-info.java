/**
 * Fault plans of the fabric as JSON files: what docs/reference/fault-plans.md describes.
 *
 * <p>Runs on the thread that calls. Read {@link org.softrdma.cli.faults.FaultPlanFile} first.
 */
@NullMarked
package org.softrdma.cli.faults;

import org.jspecify.annotations.NullMarked;
