@NullMarked
package org.softrdma.run.files;

import org.jspecify.annotations.NullMarked;
