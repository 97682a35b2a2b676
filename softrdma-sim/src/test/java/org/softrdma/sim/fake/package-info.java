/**
 * The device over sockets that are not there: one thread, and the test says how many bytes each call takes or gives.
 *
 * <p>Read {@link org.softrdma.sim.fake.FakeTransport} first, then {@link org.softrdma.sim.fake.FakeDevice}.
 */
@NullMarked
package org.softrdma.sim.fake;

import org.jspecify.annotations.NullMarked;
