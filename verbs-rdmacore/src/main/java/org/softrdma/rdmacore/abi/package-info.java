/**
 * C as this provider sees it: functions, structures, error numbers. No state of its own, any thread. Read {@link
 * org.softrdma.rdmacore.abi.VerbsLibrary} first.
 *
 * <p>Pointers are {@code long}; sizes and offsets are those of LP64 little-endian Linux, from libibverbs 1.x
 * ("IBVERBS_1.0" to 1.14) and librdmacm 1.x.
 */
@NullMarked
package org.softrdma.rdmacore.abi;

import org.jspecify.annotations.NullMarked;
