/** Tests of the index and the log. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.herd.mica;
