package org.softrdma.sanitiser;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Findings;
import org.softrdma.sanitiser.finding.RequestName;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.CompletionOpcode;

/** What is shown of findings that a loop makes. */
class FindingsTest {
    private static StackTraceElement line(int number) {
        return new StackTraceElement("org.example.Client", "send", "Client.java", number);
    }

    /** A request of one line whose completion another line polled. */
    private static Finding touched(int posted, int polled) {
        RequestName request = new RequestName(CompletionOpcode.SEND, polled, line(posted));
        return new Finding(Rule.SOURCE_TOUCHED, "byte " + polled, null, request, null, List.of(line(polled)));
    }

    private static Finding leak(int created) {
        return new Finding(Rule.LEAKED, "a region", null, null, null, List.of(line(created)));
    }

    @Test
    void shouldShowOnePerRuleAndPostingLine() {
        Findings findings = new Findings();
        for (int polled = 100; polled < 187; polled++) {
            findings.accept(touched(56, polled));
        }
        findings.accept(touched(57, 100));
        findings.accept(leak(56));

        assertEquals(
                List.of(
                        "SOURCE_TOUCHED at Client.java:56 (87 times)",
                        "SOURCE_TOUCHED at Client.java:57 (once)",
                        "LEAKED at Client.java:56 (once)"),
                findings.summary());
        assertEquals(3, findings.toString().split("\n  rule: ", -1).length - 1, findings::toString);
        assertTrue(findings.toString().startsWith("SOURCE_TOUCHED: byte 100\n"), "the first of them");
        assertEquals(89, findings.count());
        assertEquals(89, findings.list().size(), "programs may look at each");
    }

    /** Behind a thousand of one kind, the first of another is still shown. */
    @Test
    void shouldShowWhatComesBehindManyOfAnotherKind() {
        Findings findings = new Findings();
        for (int i = 0; i < 5000; i++) {
            findings.accept(touched(56, 100));
        }
        findings.accept(leak(7));

        assertEquals(
                List.of("SOURCE_TOUCHED at Client.java:56 (5000 times)", "LEAKED at Client.java:7 (once)"),
                findings.summary());
        assertTrue(findings.toString().contains("LEAKED: a region"), findings::toString);
    }

    @Test
    void shouldBeginAnewOnceDrained() {
        Findings findings = new Findings();
        findings.accept(leak(7));

        assertEquals(1, findings.drain().size());
        assertEquals(List.of(), findings.summary());
        assertEquals("", findings.toString());
    }
}
