@NullMarked
package org.softrdma.run.kernel;

import org.jspecify.annotations.NullMarked;
