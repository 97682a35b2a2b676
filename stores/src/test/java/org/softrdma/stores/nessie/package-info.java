/** Tests of Nessie. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.nessie;
