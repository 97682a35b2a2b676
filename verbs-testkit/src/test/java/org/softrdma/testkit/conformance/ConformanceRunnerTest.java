package org.softrdma.testkit.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.conformance.CaseResult.Status;

class ConformanceRunnerTest {
    private static final int LAST_OF_CATALOGUE = 140;

    private static final KnownDeviation DEVIATION =
            new KnownDeviation("sim", Pattern.compile("siw"), 36, "the driver checks no rights, see bug 1");

    private static CaseResult result(Status status, String reason) {
        return new CaseResult(36, "title", "source", status, reason, 7);
    }

    @Test
    void shouldGiveEveryCaseANumberTitleAndSourceOfItsOwn() {
        Set<Integer> numbers = new HashSet<>();
        Set<String> titles = new HashSet<>();
        List<ConformanceCase> cases = ConformanceRunner.list();
        for (ConformanceCase entry : cases) {
            assertTrue(numbers.add(entry.number()), "number " + entry.number() + " is given twice");
            assertTrue(titles.add(entry.title()), "title '" + entry.title() + "' is given twice");
            assertFalse(entry.source().isBlank(), "case " + entry.number() + " has no source");
            assertTrue(entry.number() > 0 && !entry.title().isBlank(), "case " + entry.number());
        }
        assertTrue(cases.size() >= 75, cases.size() + " cases");
    }

    /** As docs/reference/conformance.md says. */
    @Test
    void shouldHaveACaseForEveryNumberOfTheCatalogueThatItCan() {
        Set<Integer> missing = new TreeSet<>();
        for (int number = 1; number <= LAST_OF_CATALOGUE; number++) {
            missing.add(number);
        }
        ConformanceRunner.list().forEach(entry -> missing.remove(entry.number()));
        assertEquals(Set.of(), missing);
    }

    @Test
    void shouldRunEveryTestOfAGroupAsACase() {
        for (Class<?> group : CaseMethod.GROUPS) {
            for (Method method : group.getDeclaredMethods()) {
                assertEquals(
                        method.isAnnotationPresent(Test.class),
                        method.isAnnotationPresent(ConformanceCase.class),
                        method.toString());
            }
            assertTrue(
                    Arrays.stream(group.getDeclaredMethods())
                            .anyMatch(method -> method.isAnnotationPresent(Test.class)),
                    group + " has no case");
        }
    }

    @Test
    void shouldRefuseNumbersThatNoCaseHas() {
        ConformanceSettings settings = ConformanceSettings.of("sim", Map.of());
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> new ConformanceRunner(settings, Set.of(36, 9999), List.of(), line -> {}));
        assertEquals("no case has the number 9999; softrdma tck --list shows them", refused.getMessage());
    }

    @Test
    void shouldFailAndSayWhyWhenTheProviderIsUnknown() {
        List<String> lines = new ArrayList<>();
        ConformanceReport report = ConformanceRunner.runAll(ConformanceSettings.of("nosuch", Map.of()), lines::add);
        assertEquals(1, report.failures().size());
        assertTrue(report.failures().getFirst().reason().contains("nosuch"), report.toString());
        assertEquals("0 passed, 1 failed, 0 skipped", lines.getLast());
    }

    @Test
    void shouldSkipAFailureThatIsAKnownDeviation() {
        CaseResult seen = result(Status.FAILED, "expected this, got that").under(DEVIATION);
        assertEquals(Status.SKIPPED, seen.status());
        assertEquals("known deviation: the driver checks no rights, see bug 1", seen.reason());
    }

    @Test
    void shouldFailWhenAKnownDeviationNoLongerOccurs() {
        CaseResult seen = result(Status.PASSED, "").under(DEVIATION);
        assertEquals(Status.FAILED, seen.status());
        assertTrue(seen.reason().contains("no longer occurs") && seen.reason().contains("bug 1"), seen.reason());
        assertEquals(
                result(Status.SKIPPED, "not here"),
                result(Status.SKIPPED, "not here").under(DEVIATION));
    }

    @Test
    void shouldFindADeviationOnlyForItsProviderDeviceAndCase() {
        List<KnownDeviation> table = List.of(DEVIATION);
        assertEquals(Optional.of(DEVIATION), KnownDeviation.find(table, "sim", "siw0", 36));
        assertEquals(Optional.empty(), KnownDeviation.find(table, "disni", "siw0", 36));
        assertEquals(Optional.empty(), KnownDeviation.find(table, "sim", "rxe0", 36));
        assertEquals(Optional.empty(), KnownDeviation.find(table, "sim", "siw0", 37));
        assertThrows(IllegalArgumentException.class, () -> new KnownDeviation("sim", Pattern.compile(""), 36, "  "));
    }

    /** The card of {@code softrdma run} has the name of SoftRoCE's, and faults of its own. */
    @Test
    void shouldJudgeADeviceByTheNameThatItIsKnownAs() {
        ConformanceSettings settings = ConformanceSettings.of("rdmacore", Map.of());
        assertEquals("rxe0", settings.knownName("rxe0"));
        assertEquals("run", settings.withKnownAs("run").knownName("rxe0"));
    }

    @Test
    void shouldListTheCasesOfADeviceThatDeviate() {
        List<KnownDeviation> table =
                List.of(DEVIATION, new KnownDeviation("sim", Pattern.compile("siw"), 9, "another reason"));
        assertEquals("36,9", KnownDeviation.numbers(table, "sim", "siw0"));
        assertEquals("", KnownDeviation.numbers(table, "sim", "rxe0"));
        assertEquals("", KnownDeviation.numbers(table, "disni", "siw0"));
    }

    @Test
    void shouldTellAResultInOneLine() {
        assertEquals("  36  passed       7 ms  title", result(Status.PASSED, "").line());
        assertEquals(
                "  36  FAILED       7 ms  title: why",
                result(Status.FAILED, "why").line());
        assertEquals(
                "  36  skipped      7 ms  title: why",
                result(Status.SKIPPED, "why").line());
    }

    @Test
    void shouldCarrySettingsThroughConfigurationParameters() {
        ConformanceSettings settings = ConformanceSettings.of("sim", Map.of("transport", "nio", "crc", "on"))
                .withResponderOptions(Map.of("name", "a=b,c"))
                .withAddress("::1")
                .withScale(0.5)
                .withSeed(-7)
                .withKnownAs("run");
        Map<String, String> parameters = settings.toParameters();
        assertEquals(settings, ConformanceSettings.ofParameters(name -> Optional.ofNullable(parameters.get(name))));
        ConformanceSettings shared = settings.withSharedDevice();
        Map<String, String> sharedParameters = shared.toParameters();
        assertEquals(shared, ConformanceSettings.ofParameters(name -> Optional.ofNullable(sharedParameters.get(name))));
        assertThrows(IllegalArgumentException.class, () -> ConformanceSettings.ofParameters(name -> Optional.empty()));
        assertThrows(IllegalArgumentException.class, () -> settings.withScale(0));
        assertThrows(IllegalArgumentException.class, () -> settings.withScale(Double.NaN));
    }
}
