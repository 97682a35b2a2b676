/** Tests of faults. Read {@link org.softrdma.run.faults.CardFaultsTest} first. */
@NullMarked
package org.softrdma.run.faults;

import org.jspecify.annotations.NullMarked;
