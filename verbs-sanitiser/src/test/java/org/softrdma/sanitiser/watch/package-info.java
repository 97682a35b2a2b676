/** What the sanitiser remembers, without devices. */
@NullMarked
package org.softrdma.sanitiser.watch;

import org.jspecify.annotations.NullMarked;
