@NullMarked
package org.softrdma.run.launch;

import org.jspecify.annotations.NullMarked;
