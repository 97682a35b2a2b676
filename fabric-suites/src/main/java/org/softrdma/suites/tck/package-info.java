/**
 * The conformance suite on a fabric: each case on a network of its own, with an adversary that does what verbs allow.
 *
 * <p>A case is a process of its fabric; several fabrics run beside each other on threads of the caller. Read {@link
 * org.softrdma.suites.tck.FabricSuite} first.
 */
@NullMarked
package org.softrdma.suites.tck;

import org.jspecify.annotations.NullMarked;
