/**
 * What the providers on the kernel's devices share ({@code rdmacore}, {@code disni}): rings of outstanding requests and their native
 * numbers, the rules of registering that are checked before any native call, memory that outlives its registrations, what the kernel
 * shows of its devices; and on these, in {@link org.softrdma.nativeverbs.device}, the objects of verbs-api. No native call is made here.
 * Each class says its threads; read {@link org.softrdma.nativeverbs.WorkRing} first.
 */
@NullMarked
package org.softrdma.nativeverbs;

import org.jspecify.annotations.NullMarked;
