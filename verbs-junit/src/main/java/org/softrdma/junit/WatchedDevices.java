package org.softrdma.junit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import org.opentest4j.AssertionFailedError;
import org.softrdma.sanitiser.Sanitiser;
import org.softrdma.sanitiser.finding.Findings;
import org.softrdma.sanitiser.finding.OpenObject;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The devices of a test: what is open on them, and which rules of verbs it has broken. On the thread that opens a
 * device or judges.
 */
final class WatchedDevices {
    /** Who calls a test: its frames say nothing. */
    private static final List<String> CALLERS =
            List.of("org.junit.", "org.softrdma.fabric.", "org.softrdma.junit.FabricRun");

    private final Findings findings = new Findings();
    private final Sanitiser sanitiser;
    private final Deque<Given> given = new ArrayDeque<>();
    private int count;

    /** Of a test on this machine, whose threads block by the JVM's own means. */
    WatchedDevices(boolean sanitised) {
        sanitiser = new Sanitiser(rules(sanitised), findings);
    }

    /**
     * Of a test in a simulation.
     *
     * @param sanitised whether broken rules count
     * @param idle lets other threads run
     * @param cleaningUp true on a thread that is gone for the test: what it does then breaks no rule
     */
    WatchedDevices(boolean sanitised, Runnable idle, BooleanSupplier cleaningUp) {
        sanitiser = new Sanitiser(
                rules(sanitised),
                finding -> {
                    if (!cleaningUp.getAsBoolean()) {
                        findings.accept(finding);
                    }
                },
                idle);
    }

    private static Set<Rule> rules(boolean sanitised) {
        return sanitised ? EnumSet.allOf(Rule.class) : EnumSet.noneOf(Rule.class);
    }

    /** A device that the test did not open: it need not close it. */
    private record Given(int number, VerbsDevice device) {}

    /** Watches a device that the test opens, and closes. */
    VerbsDevice wrap(VerbsDevice device) {
        count++; // as the sanitiser counts them
        return sanitiser.wrap(device);
    }

    /** Number of the last device that was wrapped, from 0. */
    int lastNumber() {
        return count - 1;
    }

    /** The device that was wrapped last is closed by {@link #close}, not by the test. */
    void give(VerbsDevice wrapped) {
        given.push(new Given(lastNumber(), wrapped));
    }

    /** The test fails for another reason, which may come of what was found. */
    void explain(Throwable failure) {
        if (findings.count() > 0) {
            failure.addSuppressed(new AssertionFailedError(brokenRules()));
        }
    }

    /** A line for the message of such a failure for each rule that was broken, empty if none was. */
    String alsoBroken() {
        return findings.summary().stream()
                .map(line -> "\nand broke a rule of verbs: " + line)
                .collect(Collectors.joining());
    }

    /**
     * Fails if a rule was broken or something is open.
     *
     * @param counts by its number, whether it matters what is open on a device
     */
    void requireGood(IntPredicate counts) {
        if (findings.count() > 0) {
            throw new AssertionFailedError(brokenRules());
        }
        List<OpenObject> open = open(counts);
        if (!open.isEmpty()) {
            throw new AssertionFailedError(text(open));
        }
    }

    private String brokenRules() {
        return "broken rules of verbs: " + String.join(", ", findings.summary()) + "\n" + findings;
    }

    private List<OpenObject> open(IntPredicate counts) {
        Set<Integer> ofTheTest = new HashSet<>();
        given.forEach(each -> ofTheTest.add(each.number()));
        List<OpenObject> open = new ArrayList<>();
        for (OpenObject object : sanitiser.openObjects()) {
            boolean isGivenDevice = ofTheTest.remove(object.device()); // the first object of a device is the device
            if (!isGivenDevice && counts.test(object.device())) {
                open.add(object);
            }
        }
        return open;
    }

    private static String text(List<OpenObject> open) {
        StringBuilder text = new StringBuilder("left open at the end of the test: " + open.size());
        for (OpenObject object : open) {
            text.append("\n  ").append(object.what()).append(", created");
            object.createdAt().stream()
                    .filter(frame -> CALLERS.stream().noneMatch(frame.getClassName()::startsWith))
                    .forEach(frame -> text.append("\n    at ").append(frame));
        }
        return text.toString();
    }

    /**
     * Closes the devices that the test was given, the last one first.
     *
     * @param closes by its number, whether a device is closed
     * @throws VerbsException if something is open on one
     */
    void close(IntPredicate closes) {
        while (!given.isEmpty()) {
            Given next = given.pop();
            if (closes.test(next.number())) {
                next.device().close();
            }
        }
    }

    /** Closes what can be closed, after a test that has failed: it has left things open. */
    void abandon() {
        while (!given.isEmpty()) {
            try {
                given.pop().device().close();
            } catch (VerbsException e) {
                // Something is open on it: it stays open too.
            }
        }
    }
}
