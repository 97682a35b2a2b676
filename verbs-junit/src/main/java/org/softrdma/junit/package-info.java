/**
 * A JUnit 5 extension for tests of programs that use verbs: devices that reach each other over TCP ({@link
 * org.softrdma.junit.RdmaTest}), or nodes of a fabric, with faults and seeds ({@link org.softrdma.junit.FabricTest}).
 * Both check that the test leaves nothing open and breaks no rule of verbs.
 *
 * <p>On the thread that runs the test; a test on a fabric is a process of it. Read {@link
 * org.softrdma.junit.FabricTest} first.
 */
@NullMarked
package org.softrdma.junit;

import org.jspecify.annotations.NullMarked;
