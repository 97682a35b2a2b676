/**
 * DiSNI as this provider uses it: {@link org.softrdma.disni.library.DisniLibrary} is every call that is made, the one
 * seam that tests replace; {@link org.softrdma.disni.library.InstalledDisni} is the jar and the libdisni.so of this
 * machine, and the only code that imports {@code com.ibm.disni}. Threads and states are the caller's business, as the
 * methods say.
 */
@NullMarked
package org.softrdma.disni.library;

import org.jspecify.annotations.NullMarked;
