/**
 * What the two providers over libibverbs ({@code rdmacore}, {@code disni}) share. This package holds the parts: rings
 * of outstanding requests and their native numbers, the rules of registration, memory that outlives its registrations,
 * and what the kernel shows of its devices. {@link org.softrdma.ibverbs.device} builds the objects of verbs-api from
 * them. Nothing here calls libibverbs; a provider adds the calls. Each class names its threads. Read {@link
 * org.softrdma.ibverbs.WorkRing} first.
 */
@NullMarked
package org.softrdma.ibverbs;

import org.jspecify.annotations.NullMarked;
