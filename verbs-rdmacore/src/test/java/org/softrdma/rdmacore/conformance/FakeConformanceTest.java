package org.softrdma.rdmacore.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.conformance.CaseResult;
import org.softrdma.testkit.conformance.ConformanceReport;
import org.softrdma.testkit.conformance.ConformanceRunner;
import org.softrdma.testkit.conformance.KnownDeviation;

/** Every conformance case passes, or is skipped with a reason, on a device that flushes and on one that does not. */
class FakeConformanceTest {
    private static final double SCALE = 0.2;
    private static final int LEAST_PASSED = 100;
    private static final String FAKE_ROCE = "rdmacore-fake-roce";
    private static final String FAKE_IWARP = "rdmacore-fake-iwarp";
    private static final Pattern ANY_DEVICE = Pattern.compile("");
    private static final String AS_LIBRXE = "the fake refuses a misaligned atomic when it is posted, as librxe does";
    private static final String NO_EVENTS = "the fake raises no event for what it refuses, as rxe does";
    private static final List<KnownDeviation> DEVIATIONS = List.of(
            new KnownDeviation(FAKE_ROCE, ANY_DEVICE, 131, AS_LIBRXE),
            new KnownDeviation(FAKE_ROCE, ANY_DEVICE, 384, NO_EVENTS),
            new KnownDeviation(FAKE_ROCE, ANY_DEVICE, 385, AS_LIBRXE),
            new KnownDeviation(FAKE_IWARP, ANY_DEVICE, 384, NO_EVENTS));

    @ParameterizedTest
    @ValueSource(strings = {FAKE_ROCE, FAKE_IWARP})
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldKeepEveryRuleWhenTheDeviceIsAFake(String provider) {
        List<String> lines = new ArrayList<>();
        ConformanceSettings settings =
                ConformanceSettings.of(provider, Map.of()).withScale(SCALE);
        ConformanceReport report = new ConformanceRunner(settings, Set.of(), DEVIATIONS, lines::add).run();
        assertEquals(List.of(), report.failures(), () -> String.join("\n", lines));
        long passed = report.count(CaseResult.Status.PASSED);
        assertTrue(passed >= LEAST_PASSED, () -> "passed " + passed + ":\n" + String.join("\n", lines));
    }
}
