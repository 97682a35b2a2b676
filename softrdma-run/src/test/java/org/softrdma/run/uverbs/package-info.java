@NullMarked
package org.softrdma.run.uverbs;

import org.jspecify.annotations.NullMarked;
