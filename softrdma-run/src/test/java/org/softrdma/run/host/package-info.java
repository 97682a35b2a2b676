@NullMarked
package org.softrdma.run.host;

import org.jspecify.annotations.NullMarked;
