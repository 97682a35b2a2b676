/**
 * Tests of the checker of histories: by hand ({@code BadHistoriesTest}, {@code GoodHistoriesTest}), against all orders
 * of tiny histories ({@code EveryOrderTest}), and of long ones ({@code SimulatedHistoriesTest}).
 *
 * <p>Everything runs on the thread of the test engine. Read {@code BadHistoriesTest} first.
 */
@NullMarked
package org.softrdma.testkit.history;

import org.jspecify.annotations.NullMarked;
