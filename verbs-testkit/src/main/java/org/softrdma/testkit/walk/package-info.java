/**
 * A random walk over the objects and operations of verbs, by a seed, beside a model that says what verbs promise: which
 * completions in which order with which status, which bytes, which refusals.
 *
 * <p>One thread does everything but to connect, on a machine or in a simulation. Read {@link
 * org.softrdma.testkit.walk.Walk} first. Posters and choosers draw what is done, {@link
 * org.softrdma.testkit.walk.Conflicts}, {@link org.softrdma.testkit.walk.Messages} and {@link
 * org.softrdma.testkit.walk.Bindings} say what must or may come of it, and {@link org.softrdma.testkit.walk.Judge} with its
 * siblings compares. Where an outcome is unknown, as after a fault, the model allows each that is possible, and goes on
 * with what the device tells.
 */
@NullMarked
package org.softrdma.testkit.walk;

import org.jspecify.annotations.NullMarked;
