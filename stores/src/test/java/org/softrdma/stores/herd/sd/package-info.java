/** Tests of NessieSD's tables. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.herd.sd;
