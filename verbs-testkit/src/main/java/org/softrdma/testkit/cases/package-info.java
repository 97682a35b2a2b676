/**
 * The cases, one class per group of rules.
 *
 * <p>Every case is a method annotated with {@link org.softrdma.testkit.ConformanceCase}. It gets a
 * {@link org.softrdma.testkit.TwoNodes} and runs on the thread that opened the nodes. Read
 * {@link org.softrdma.testkit.cases.ReadCases} first.
 */
@NullMarked
package org.softrdma.testkit.cases;

import org.jspecify.annotations.NullMarked;
