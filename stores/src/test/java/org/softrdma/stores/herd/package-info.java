/** Tests of HERD. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.herd;
