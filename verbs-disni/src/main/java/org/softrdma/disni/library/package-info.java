/**
 * DiSNI as this provider uses it: {@link org.softrdma.disni.library.DisniLibrary} declares every call that is made and
 * is the one seam that tests replace; {@link org.softrdma.disni.library.InstalledDisni} calls the jar and the
 * libdisni.so of this machine, and alone imports {@code com.ibm.disni}. The caller is responsible for threads and
 * states, as the methods say.
 */
@NullMarked
package org.softrdma.disni.library;

import org.jspecify.annotations.NullMarked;
