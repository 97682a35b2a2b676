package org.softrdma.sanitiser.finding;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Passes on the findings of the rules that are watched. Thread-safe if what takes them is. */
public final class Reporter {
    private final Set<Rule> rules;
    private final Consumer<Finding> taker;

    /**
     * A reporter.
     *
     * @param rules those that are watched
     * @param taker takes their findings; what it throws goes to the caller of the verbs method
     */
    public Reporter(Set<Rule> rules, Consumer<Finding> taker) {
        this.rules = Set.copyOf(rules);
        this.taker = taker;
    }

    /** True if the rule is watched. */
    public boolean watches(Rule rule) {
        return rules.contains(rule);
    }

    /** Passes a finding on if its rule is watched. */
    public void report(Finding finding) {
        if (watches(finding.rule())) {
            taker.accept(finding);
        }
    }

    /** Passes findings on, in order. */
    public void report(List<Finding> findings) {
        findings.forEach(this::report);
    }
}
