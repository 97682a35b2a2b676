/**
 * The conformance suite: every rule of the verbs API as a named case that each provider runs.
 *
 * <p>A run is started by {@link org.softrdma.testkit.conformance.ConformanceRunner}; each case gets a {@link
 * org.softrdma.testkit.Fabric}: two opened devices, a domain on each, and whatever it makes of them, closed and
 * checked for leaks at its end. Everything runs on the thread that started the run, which therefore owns a device in
 * manual progress; only the accepting side has a thread of its own. The cases are in {@link
 * org.softrdma.testkit.cases}; how a provider may lawfully differ is in {@link org.softrdma.testkit.ProviderTraits}.
 */
@NullMarked
package org.softrdma.testkit;

import org.jspecify.annotations.NullMarked;
