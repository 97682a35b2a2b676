@NullMarked
package org.softrdma.run.card;

import org.jspecify.annotations.NullMarked;
