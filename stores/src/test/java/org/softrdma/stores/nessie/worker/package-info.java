/** Tests of Pilaf. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.nessie.worker;
