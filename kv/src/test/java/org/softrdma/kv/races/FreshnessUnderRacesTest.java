package org.softrdma.kv.races;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.server.ItemSettings.Registration;

/**
 * No GET that starts after a change was acknowledged returns an older state, by READ over TCP: {@link FreshnessRace}. The thorough
 * races are those of {@code StoreRacesTest} on the fabric, in fabric-suites.
 */
class FreshnessUnderRacesTest {
    @ParameterizedTest
    @EnumSource
    void shouldNeverReturnAnOlderState(Registration registration) throws Exception {
        FreshnessRace.overTcp(registration, false).run();
    }

    @ParameterizedTest
    @EnumSource
    void shouldNeverReturnAnOlderStateWhenMemoryIsShort(Registration registration) throws Exception {
        FreshnessRace.overTcp(registration, true).run();
    }
}
