/**
 * A random walk over the objects and operations of verbs, by a seed, beside a model that says what verbs promise: which
 * completions in which order with which status, which bytes, which refusals.
 *
 * <p>One thread does everything but to connect, on a machine or in a simulation. Read {@link
 * org.softrdma.testkit.walk.Walk} first.
 */
@NullMarked
package org.softrdma.testkit.walk;

import org.jspecify.annotations.NullMarked;
