@NullMarked
package org.softrdma.run.device;

import org.jspecify.annotations.NullMarked;
