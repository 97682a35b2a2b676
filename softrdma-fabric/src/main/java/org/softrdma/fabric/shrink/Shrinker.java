package org.softrdma.fabric.shrink;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;

/**
 * Makes a failing run smaller as long as it still fails: first fewer faults, by delta debugging (Zeller and
 * Hildebrandt, 2002: leave out halves, quarters and so on, each part and what is left without it), then fewer steps, by
 * halving, then simpler faults, and again from the beginning until nothing helps or the limit of runs is reached. A
 * smaller run is another run, because its seed meets other choices: so each one is tried, and none is taken for
 * granted. One thread.
 */
public final class Shrinker {
    private final Trial trial;
    private final int mostRuns;
    private final Map<FailingRun, Boolean> tried = new HashMap<>();
    private final FailingRun first;
    private FailingRun best;
    private int runs;

    private Shrinker(FailingRun first, Trial trial, int mostRuns) {
        this.first = first;
        this.trial = trial;
        this.mostRuns = mostRuns;
        best = first;
    }

    /**
     * What is left of a run.
     *
     * @param first the run that was to be made smaller
     * @param best the smallest one that fails
     * @param runs it took to find it
     * @param finished nothing smaller fails, as far as was tried; false if the limit of runs ended the search
     */
    public record Outcome(FailingRun first, FailingRun best, int runs, boolean finished) {
        /** For the message of a failed test: what it takes to see the failure again. */
        @Override
        public String toString() {
            return "%d of %d faults and %d of %d steps are enough to fail, as found by %d runs%s:%n%s"
                    .formatted(
                            best.plan().faults().size(),
                            first.plan().faults().size(),
                            best.steps(),
                            first.steps(),
                            runs,
                            finished ? "" : ", which was their limit",
                            best);
        }
    }

    /**
     * Makes a failing run smaller.
     *
     * @param first a run that fails
     * @param trial does it again
     * @param mostRuns limit of runs, at least 1
     * @return the smallest one found
     * @throws IllegalArgumentException if the first run does not fail when it is done again
     */
    public static Outcome shrink(FailingRun first, Trial trial, int mostRuns) {
        if (mostRuns < 1) {
            throw new IllegalArgumentException("mostRuns=" + mostRuns + ": expected at least 1");
        }
        return new Shrinker(first, trial, mostRuns).shrink();
    }

    private Outcome shrink() {
        if (!fails(first)) {
            throw new IllegalArgumentException("the run does not fail when it is done again:\n" + first);
        }
        FailingRun before;
        do {
            before = best;
            leaveFaultsOut();
            leaveStepsOut();
            makeFaultsSimpler();
        } while (!best.equals(before) && runs < mostRuns);
        return new Outcome(first, best, runs, runs < mostRuns);
    }

    // ---- faults

    private void leaveFaultsOut() {
        if (accept(FaultPlan.NONE.faults())) {
            return;
        }
        int parts = 2;
        while (parts <= best.plan().faults().size() && runs < mostRuns) {
            parts = leaveAPartOut(parts);
        }
    }

    /** Leaves parts out; returns the number of parts for the next attempt. */
    private int leaveAPartOut(int parts) {
        List<Fault> faults = best.plan().faults();
        int size = faults.size();
        for (int part = 0; part < parts; part++) {
            int from = part * size / parts;
            int to = (part + 1) * size / parts;
            if (parts > 2 && accept(faults.subList(from, to))) {
                return 2;
            }
            List<Fault> others = new ArrayList<>(faults.subList(0, from));
            others.addAll(faults.subList(to, size));
            if (accept(others)) {
                return Math.max(2, parts - 1);
            }
        }
        return parts == size ? size + 1 : Math.min(size, 2 * parts);
    }

    private boolean accept(List<Fault> faults) {
        return accept(new FailingRun(first.seed(), new FaultPlan(faults), best.steps()));
    }

    private void makeFaultsSimpler() {
        for (int i = 0; i < best.plan().faults().size(); i++) {
            while (makeSimpler(i)) {
                // Once more.
            }
        }
    }

    private boolean makeSimpler(int index) {
        for (Fault simpler : SmallerFaults.of(best.plan().faults().get(index))) {
            List<Fault> faults = new ArrayList<>(best.plan().faults());
            faults.set(index, simpler);
            if (accept(faults)) {
                return true;
            }
        }
        return false;
    }

    // ---- steps

    private void leaveStepsOut() {
        long fewest = 0;
        while (fewest < best.steps() && runs < mostRuns) {
            long steps = fewest + (best.steps() - fewest) / 2;
            if (!accept(new FailingRun(first.seed(), best.plan(), steps))) {
                fewest = steps + 1;
            }
        }
    }

    // ---- trials

    private boolean accept(FailingRun smaller) {
        if (!smaller.equals(best) && fails(smaller)) {
            best = smaller;
            return true;
        }
        return false;
    }

    private boolean fails(FailingRun run) {
        Boolean known = tried.get(run);
        if (known != null) {
            return known;
        }
        if (runs == mostRuns) {
            return false;
        }
        runs++;
        boolean fails = trial.fails(run.plan(), run.steps());
        tried.put(run, fails);
        return fails;
    }
}
