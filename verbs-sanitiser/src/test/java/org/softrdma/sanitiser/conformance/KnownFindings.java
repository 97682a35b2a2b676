package org.softrdma.sanitiser.conformance;

import java.util.List;
import java.util.Set;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.testkit.conformance.KnownDeviation;

/**
 * What cases of the conformance suite do wrong on purpose, each with its reason. Some depend on how fast the peer is,
 * so a case need not break its rule in each run.
 */
final class KnownFindings {
    /** None: the sanitiser changes no behaviour. */
    static final List<KnownDeviation> DEVIATIONS = List.of();

    private static final List<Known> KNOWN = List.of(
            new Known(Rule.READ_SINK_NOT_DECLARED, "LOCAL_WRITE alone is under test", 6, 34),
            new Known(Rule.DEREGISTERED_WHILE_OUTSTANDING, "quiescence of the device is under test", 14, 16, 211, 212),
            new Known(Rule.DEREGISTERED_WHILE_OUTSTANDING, "a region is closed under traffic", 213, 217, 218),
            new Known(
                    Rule.DEREGISTERED_WHILE_OUTSTANDING, "the last requests are unsignalled, and nothing follows", 96),
            new Known(
                    Rule.SOURCE_TOUCHED,
                    "the source is deregistered and overwritten: nothing of that may leave",
                    212,
                    213),
            new Known(Rule.SINKS_OVERLAP, "queue pairs READ the same bytes into one sink", 58, 63, 69, 93),
            new Known(
                    Rule.SINKS_OVERLAP,
                    "one buffer for RECVs whose content nobody looks at",
                    49,
                    81,
                    211,
                    218,
                    240,
                    271),
            new Known(Rule.SINKS_OVERLAP, "one buffer for RECVs whose content nobody looks at", 393, 398),
            new Known(Rule.READ_SINK_NOT_DECLARED, "a READ that is refused at the post", 396),
            new Known(Rule.WRONG_QUEUE_KEY, "a datagram with another key is under test", 392),
            new Known(Rule.RECEIVE_WITHOUT_ROOM_FOR_HEADER, "a datagram that is too long is under test", 395),
            new Known(Rule.SINKS_OVERLAP, "one buffer for RECVs that fill their queue", 304, 305),
            new Known(Rule.SINKS_OVERLAP, "many READs into few buffers, which are then deregistered", 217),
            new Known(Rule.SEND_WITHOUT_RECEIVE, "the SEND is to fail before it leaves", 42, 48),
            new Known(Rule.SEND_WITHOUT_RECEIVE, "a peer without a RECV is under test", 98, 108, 110, 112),
            new Known(Rule.SEND_WITHOUT_RECEIVE, "a WRITE with immediate without a RECV is under test", 358),
            new Known(
                    Rule.SINKS_OVERLAP, "a second atomic behind one that is refused, into the same word", 39, 132, 351),
            new Known(Rule.SINKS_OVERLAP, "one buffer for RECVs whose content nobody looks at", 378, 386, 387, 388),
            new Known(Rule.COMPLETION_QUEUE_OVERCOMMITTED, "the event of an overrun is under test", 386, 387, 388),
            new Known(Rule.COMPLETION_QUEUE_OVERCOMMITTED, "the least size of a queue is under test", 61),
            new Known(Rule.DEREGISTERED_WHILE_OUTSTANDING, "the last request is unsignalled, and nothing follows", 61),
            new Known(Rule.READ_SINK_NOT_DECLARED, "a sink that has lost its right is under test", 382),
            new Known(Rule.SEND_QUEUE_STARVED, "a queue of unsignalled requests is under test", 96),
            new Known(Rule.COMPLETION_QUEUE_OVERCOMMITTED, "an overrun is under test", 60),
            new Known(Rule.INVALID_FIELD_READ, "what a failed completion does not have is under test", 62),
            new Known(Rule.MISSED_WAKE_UP, "that such a wait gets no event is under test", 66),
            new Known(Rule.LEAKED, "that the device refuses to close is under test", 220));

    private record Known(Rule rule, String reason, Set<Integer> cases) {
        Known(Rule rule, String reason, Integer... cases) {
            this(rule, reason, Set.of(cases));
        }
    }

    private KnownFindings() {}

    static boolean isKnown(int caseNumber, Finding finding) {
        return isBehindARefusedRead(finding)
                || KNOWN.stream().anyMatch(known -> known.rule == finding.rule() && known.cases.contains(caseNumber));
    }

    /** Many cases post a second READ behind one that will be refused, into the same sink: it must be flushed. */
    private static boolean isBehindARefusedRead(Finding finding) {
        return finding.rule() == Rule.SINKS_OVERLAP
                && finding.where().stream()
                        .anyMatch(frame -> frame.getMethodName().equals("expectReadRefused"));
    }
}
