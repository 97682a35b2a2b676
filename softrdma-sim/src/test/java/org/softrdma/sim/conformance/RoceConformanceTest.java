package org.softrdma.sim.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.KeptPorts;
import org.softrdma.testkit.conformance.CaseResult;
import org.softrdma.testkit.conformance.ConformanceReport;
import org.softrdma.testkit.conformance.ConformanceRunner;
import org.softrdma.testkit.conformance.KnownDeviation;

/** The software RNIC keeps the rules of the verbs API on RoCEv2, too. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RoceConformanceTest {
    private static final double BRIEF = 0.2;
    private static final List<KnownDeviation> DEVIATIONS = List.of(new KnownDeviation(
            "sim",
            Pattern.compile(""),
            220,
            "of two devices on one address only one can listen at a UDP port (docs/design/roce.md)"));

    @Tag("slow")
    @Test
    void shouldKeepTheRulesWhenTheTransportIsEpoll() throws Exception {
        run(Map.of("transport", "epoll"), Map.of("transport", "epoll"), false);
    }

    @Test
    void shouldKeepTheRulesWhenTheTransportIsUring() throws Exception {
        run(Map.of("transport", "uring"), Map.of("transport", "uring"), false);
    }

    @Tag("sampled")
    @Test
    void shouldKeepTheRulesWhenTheTransportIsNio() throws Exception {
        run(Map.of("transport", "nio"), Map.of("transport", "nio"), false, SoftRdmaConformanceTest.part(2));
    }

    @Tag("slow")
    @Test
    void shouldKeepTheRulesWhenTheRequesterMakesProgressByHand() throws Exception {
        run(Map.of("progress", "manual"), Map.of("progress", "engine"), false);
    }

    @Tag("slow")
    @Test
    void shouldKeepTheRulesWhenOneDeviceWithTwoThreadsIsBothEnds() throws Exception {
        run(Map.of("threads", "2"), Map.of("threads", "2"), true);
    }

    /** What a profile takes away is refused; a case checks that before it counts as skipped. */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"rxe", "disni"})
    void shouldKeepTheRulesWhenConfinedToWhatAnotherDeviceHas(String profile) throws Exception {
        run(Map.of("profile", profile), Map.of("profile", profile), false);
    }

    private static void run(Map<String, String> requester, Map<String, String> responder, boolean shared)
            throws Exception {
        run(requester, responder, shared, Set.of());
    }

    private static void run(
            Map<String, String> requester, Map<String, String> responder, boolean shared, Set<Integer> cases)
            throws Exception {
        Map<String, String> common =
                Map.of("wire", "roce", "roce-address", "127.0.0.1", "roce-port", Integer.toString(KeptPorts.nextUdp()));
        ConformanceSettings settings = ConformanceSettings.of("sim", both(requester, common))
                .withResponderOptions(both(responder, common))
                .withScale(BRIEF);
        ConformanceReport report = new ConformanceRunner(
                        shared ? settings.withSharedDevice() : settings, cases, DEVIATIONS, line -> {})
                .run();
        String failures = String.join(
                "\n", report.failures().stream().map(CaseResult::line).toList());
        assertEquals("", failures, () -> failures + "\n" + report.summary());
    }

    private static Map<String, String> both(Map<String, String> some, Map<String, String> more) {
        Map<String, String> all = new HashMap<>(some);
        all.putAll(more);
        return all;
    }
}
