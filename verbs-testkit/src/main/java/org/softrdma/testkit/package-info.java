/**
 * The conformance suite: every rule of the verbs API as a named case that each provider runs.
 *
 * <p>{@link org.softrdma.testkit.conformance.ConformanceRunner} starts a run. Each case gets a {@link
 * org.softrdma.testkit.TwoNodes}: two open devices, a domain on each, and whatever the case makes of them. At the end of
 * the case the nodes closes everything and checks for leaks. Everything runs on the thread that started the run, which
 * therefore owns a device in manual progress; only the accepting side has a thread of its own. The cases are in {@link
 * org.softrdma.testkit.cases}. {@link org.softrdma.testkit.ProviderTraits} says how a provider may lawfully differ.
 */
@NullMarked
package org.softrdma.testkit;

import org.jspecify.annotations.NullMarked;
