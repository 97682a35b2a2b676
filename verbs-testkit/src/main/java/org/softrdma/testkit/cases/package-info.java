/**
 * The cases, one class per group of rules.
 *
 * <p>Every case is a method with {@link org.softrdma.testkit.ConformanceCase}, is handed a {@link
 * org.softrdma.testkit.Fabric} and runs on its thread. Read {@link org.softrdma.testkit.cases.ReadCases} first.
 */
@NullMarked
package org.softrdma.testkit.cases;

import org.jspecify.annotations.NullMarked;
