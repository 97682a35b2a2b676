/**
 * Proofs that clients see what the store promises: every schedule of one READ by hand ({@code TornReadTest}), short live
 * races ({@code FreshnessUnderRacesTest}, {@code FreshnessOnSameHostTest}; the thorough ones are on the fabric, in fabric-suites), threads that hits do
 * not wake ({@code WakeUpsTest}), clients that misbehave ({@code BadInputTest}). The list of mutants that these notice is ci/mutants/kv.txt.
 *
 * <p>Read {@link org.softrdma.kv.races.FreshnessRace} first.
 */
@NullMarked
package org.softrdma.kv.races;

import org.jspecify.annotations.NullMarked;
