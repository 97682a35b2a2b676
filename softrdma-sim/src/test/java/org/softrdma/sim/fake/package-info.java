/**
 * The device over sockets that are not there: one thread, and the test says how many bytes each call takes or gives,
 * which call fails, and what happens in between.
 *
 * <p>The fabric cannot take its place. There the seed cuts streams, both ends are devices that keep the rules, and
 * errors happen to connections and nodes. Here a test tries <em>every</em> cut of a stream and <em>every</em> call that
 * may fail, and plays a peer that sends what no device sends. What a seed and a fault plan can bring about belongs into
 * {@code org.softrdma.fabric}.
 *
 * <p>Read {@link org.softrdma.sim.fake.FakeTransport} first, then {@link org.softrdma.sim.fake.FakeDevice}.
 */
@NullMarked
package org.softrdma.sim.fake;

import org.jspecify.annotations.NullMarked;
