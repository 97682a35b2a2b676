/**
 * A JUnit 5 extension for tests of programs that use verbs: nodes, their devices, faults, and a check that nothing is
 * left open.
 */
@NullMarked
package org.softrdma.junit;

import org.jspecify.annotations.NullMarked;
