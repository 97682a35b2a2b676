@NullMarked
package org.softrdma.run.rdmacm;

import org.jspecify.annotations.NullMarked;
