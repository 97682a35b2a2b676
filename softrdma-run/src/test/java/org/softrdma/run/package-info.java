@NullMarked
package org.softrdma.run;

import org.jspecify.annotations.NullMarked;
