/**
 * What the sanitiser reports: the rules that it watches, and a finding for each violation.
 *
 * <p>Knows nothing of devices. Findings are made on the thread that broke the rule, or polled its completion. Read
 * {@link org.softrdma.sanitiser.finding.Rule} first.
 */
@NullMarked
package org.softrdma.sanitiser.finding;

import org.jspecify.annotations.NullMarked;
