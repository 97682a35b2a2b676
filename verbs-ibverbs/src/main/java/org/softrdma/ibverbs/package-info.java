/**
 * What the two providers over libibverbs share ({@code rdmacore}, {@code disni}). This package holds the parts: rings
 * of outstanding requests and their native numbers, the rules of registering, memory that outlives its registrations,
 * what the kernel shows of its devices. {@link org.softrdma.ibverbs.device} makes the objects of verbs-api of them.
 * Nothing here calls libibverbs: a provider adds the calls. Each class says its threads; read {@link
 * org.softrdma.ibverbs.WorkRing} first.
 */
@NullMarked
package org.softrdma.ibverbs;

import org.jspecify.annotations.NullMarked;
