/** What a failure to load DiSNI means, and error numbers from texts. */
@NullMarked
package org.softrdma.disni.library;

import org.jspecify.annotations.NullMarked;
