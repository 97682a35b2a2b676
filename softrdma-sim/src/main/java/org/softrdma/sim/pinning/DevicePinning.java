package org.softrdma.sim.pinning;

import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * How a device pins: policy and budget, which follow from its settings and the kernel's limits. Immutable; any thread.
 */
final class DevicePinning {
    private final PageLocks kernel;
    private final PinningPolicy asked;
    private final PinningPolicy policy;
    private final String notLazy;
    private final long budgetBytes;
    private final boolean budgetChosen;

    /**
     * Decides by the current limits.
     *
     * @param settings what the application asks for
     * @param kernel has the limits
     * @param granuleBytes the least that is locked at once
     * @param machineBytes memory of the machine, for the automatic budget
     * @throws VerbsException {@code NOT_SUPPORTED} if LAZY is asked for by name and cannot work here
     */
    DevicePinning(PinningSettings settings, PageLocks kernel, long granuleBytes, long machineBytes) {
        this.kernel = kernel;
        asked = settings.policy();
        budgetChosen = settings.budgetBytes() != PinningSettings.AUTOMATIC;
        long limit = kernel.limitBytes();
        budgetBytes = budgetChosen
                ? settings.budgetBytes()
                : Math.min(limit == PageLocks.UNLIMITED ? limit : limit - kernel.lockedBytes(), machineBytes / 2);
        notLazy = limit < granuleBytes || budgetBytes < granuleBytes
                ? "a granule has " + granuleBytes + " bytes, but this process may lock "
                        + (limit < granuleBytes
                                ? limit + "; raise it with ulimit -l, or use pinning=off"
                                : budgetBytes + " bytes; raise pin-budget")
                : "";
        if (asked == PinningPolicy.LAZY && !canBeLazy()) {
            throw new VerbsException(VerbsErrorCode.NOT_SUPPORTED, "pinning=lazy: " + notLazy);
        }
        policy = asked != PinningPolicy.AUTO ? asked : canBeLazy() ? PinningPolicy.LAZY : PinningPolicy.OFF;
    }

    /** Most bytes that are pinned lazily at once. */
    long budgetBytes() {
        return budgetBytes;
    }

    /**
     * True if the application chose the budget. Otherwise engines evict nothing: the next access would need what was
     * unlocked for this one, and locks of parts split huge pages.
     */
    boolean isBudgetChosen() {
        return budgetChosen;
    }

    /** True if regions can be pinned lazily here. */
    boolean canBeLazy() {
        return notLazy.isEmpty();
    }

    /**
     * The policy that a region gets.
     *
     * @param wanted the policy it asks for
     * @throws VerbsException {@code NOT_SUPPORTED} if LAZY is asked for and cannot work
     */
    PinningPolicy policy(PinningPolicy wanted) {
        if (wanted == PinningPolicy.LAZY && !canBeLazy()) {
            throw new VerbsException(VerbsErrorCode.NOT_SUPPORTED, "LAZY: " + notLazy);
        }
        return wanted == PinningPolicy.AUTO ? policy : wanted;
    }

    /** For messages: the default policy, its budget, and whether pinning is accounted only. */
    String description() {
        return switch (policy) {
            case OFF -> asked == PinningPolicy.OFF ? "off" : "off: " + notLazy;
            case EAGER -> "eager" + missing();
            case LAZY, AUTO -> "lazy, budget " + budgetBytes + " bytes" + missing();
        };
    }

    private String missing() {
        return kernel.missing().isEmpty() ? "" : ", accounted only: " + kernel.missing();
    }
}
