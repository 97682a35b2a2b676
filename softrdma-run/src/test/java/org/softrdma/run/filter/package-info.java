@NullMarked
package org.softrdma.run.filter;

import org.jspecify.annotations.NullMarked;
