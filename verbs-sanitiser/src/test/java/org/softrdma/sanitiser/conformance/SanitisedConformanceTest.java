package org.softrdma.sanitiser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.conformance.CaseResult;
import org.softrdma.testkit.conformance.ConformanceReport;
import org.softrdma.testkit.conformance.ConformanceRunner;

/**
 * The conformance suite behaves the same through the sanitiser, and nothing is found in it but what its cases do wrong
 * on purpose.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SanitisedConformanceTest {
    private static final double BRIEF = 0.2;
    /** Cases of datagrams, of unreliable connections, and of connections by addresses. */
    private static final Set<Integer> WITHOUT_MANAGER = Stream.concat(
                    Stream.of(140), IntStream.rangeClosed(391, 411).boxed())
            .collect(Collectors.toUnmodifiableSet());

    /** The largest that the option roce-port takes. */
    private static final int MOST_PORT = 49_151;

    @Test
    void shouldFindOnlyWhatCasesDoWrongOnPurpose() {
        run(ConformanceSettings.of("collected:sim", Map.of()).withScale(BRIEF));
    }

    @Test
    void shouldFindOnlyWhatCasesDoWrongOnPurposeWithoutAConnectionManager() throws IOException {
        Map<String, String> options =
                Map.of("wire", "roce", "roce-address", "127.0.0.1", "roce-port", Integer.toString(freePort()));
        run(ConformanceSettings.of("collected:sim", options).withScale(BRIEF), WITHOUT_MANAGER);
    }

    private static int freePort() throws IOException {
        while (true) {
            try (DatagramChannel channel = DatagramChannel.open()) {
                channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                int port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
                if (port <= MOST_PORT) {
                    return port;
                }
            }
        }
    }

    @Tag("slow")
    @Test
    void shouldFindOnlyWhatCasesDoWrongOnPurposeInManualProgress() {
        run(ConformanceSettings.of("collected:sim", Map.of("progress", "manual"))
                .withResponderOptions(Map.of())
                .withScale(BRIEF));
    }

    private static void run(ConformanceSettings settings) {
        run(settings, Set.of());
    }

    private static void run(ConformanceSettings settings, Set<Integer> cases) {
        CollectingProviders.FINDINGS.drain();
        Map<Integer, List<Finding>> byCase = new TreeMap<>();
        Consumer<String> lines = line -> byCase.computeIfAbsent(caseOf(line), number -> new ArrayList<>())
                .addAll(CollectingProviders.FINDINGS.drain());
        ConformanceReport report = new ConformanceRunner(settings, cases, KnownFindings.DEVIATIONS, lines).run();
        assertEquals("", text(report.failures()) + unexpected(byCase), report::summary);
    }

    /** A line of a result begins with the number of its case; the other lines count as case 0. */
    private static int caseOf(String line) {
        String first = line.strip().split(" ", 2)[0];
        return first.matches("\\d+") && line.startsWith(" ") ? Integer.parseInt(first) : 0;
    }

    private static String text(List<CaseResult> failures) {
        return failures.stream().map(CaseResult::line).collect(Collectors.joining("\n"));
    }

    private static String unexpected(Map<Integer, List<Finding>> byCase) {
        StringBuilder text = new StringBuilder();
        byCase.forEach((number, findings) -> {
            Set<Rule> told = EnumSet.noneOf(Rule.class);
            for (Finding finding : findings) {
                if (!KnownFindings.isKnown(number, finding) && told.add(finding.rule())) {
                    text.append("case ")
                            .append(number)
                            .append(": ")
                            .append(finding.text())
                            .append('\n');
                }
            }
        });
        return text.toString();
    }
}
