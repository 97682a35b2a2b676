/**
 * Who is a member, which machine has which region, and until when a machine may trust what it READs: epochs, the
 * barrier between them, and leases. Nothing outside of this package decides who is alive, by a clock or otherwise.
 *
 * <p>The node's thread. Read {@link org.softrdma.farm.membership.FarmConfiguration} first, then {@link
 * org.softrdma.farm.membership.NextConfiguration} and {@link org.softrdma.farm.membership.Member}.
 */
@NullMarked
package org.softrdma.farm.membership;

import org.jspecify.annotations.NullMarked;
