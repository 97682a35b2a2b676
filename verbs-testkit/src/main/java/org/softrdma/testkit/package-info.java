/**
 * The conformance suite: every rule of the verbs API as a named case that each provider runs.
 *
 * <p>Runs on the thread of the test engine, against a provider it is handed; it opens no network of its own.
 * Read the suite class first; a provider says how it lawfully differs in its traits.
 */
@NullMarked
package org.softrdma.testkit;

import org.jspecify.annotations.NullMarked;
