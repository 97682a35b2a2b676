package org.softrdma.kv.races;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.server.ItemSettings.Registration;

/**
 * The same as {@link FreshnessUnderRacesTest} by clients that copy items out of the server's memory themselves: {@link FreshnessRace}. The
 * fabric has no such memory, so these live races are all that looks for mutants there.
 */
class FreshnessOnSameHostTest {
    @ParameterizedTest
    @EnumSource
    void shouldNeverReturnAnOlderState(Registration registration) throws Exception {
        FreshnessRace.onSameHost(registration, false).run();
    }

    @ParameterizedTest
    @EnumSource
    void shouldNeverReturnAnOlderStateWhenMemoryIsShort(Registration registration) throws Exception {
        FreshnessRace.onSameHost(registration, true).run();
    }
}
