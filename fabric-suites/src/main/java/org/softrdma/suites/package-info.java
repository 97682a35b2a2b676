/**
 * What runs on the fabric beside bare devices: the conformance suite, random walks, and the store. This is the one
 * module that knows the store, the suite and the fabric, so that a program on the fabric needs neither of the others.
 *
 * <p>On the threads of a fabric. Read {@link org.softrdma.suites.tck.FabricSuite} first.
 */
@NullMarked
package org.softrdma.suites;

import org.jspecify.annotations.NullMarked;
