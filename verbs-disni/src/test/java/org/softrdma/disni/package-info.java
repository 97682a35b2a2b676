/** What the provider says of the machine that runs this test, and of options. */
@NullMarked
package org.softrdma.disni;

import org.jspecify.annotations.NullMarked;
