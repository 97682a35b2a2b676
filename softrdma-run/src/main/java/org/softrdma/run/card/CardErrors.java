package org.softrdma.run.card;

import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.verbs.VerbsException;

/** What the card refuses, as a program hears it. */
final class CardErrors {
    private CardErrors() {}

    /** A step of the card, which can be refused. */
    interface Step<T> {
        /** Takes it. */
        T take();
    }

    /** Takes a step. */
    static <T> T of(Step<T> step) throws CallRefusedException {
        try {
            return step.take();
        } catch (VerbsException e) {
            throw new CallRefusedException(errno(e));
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
    }

    /** Takes a step without a result. */
    static void of(Runnable step) throws CallRefusedException {
        boolean ignored = of(() -> {
            step.run();
            return true;
        });
    }

    private static int errno(VerbsException refused) {
        return switch (refused.code()) {
            case BUSY -> ErrorNumber.EBUSY;
            case NO_RESOURCES -> ErrorNumber.ENOMEM;
            case NOT_SUPPORTED -> ErrorNumber.EOPNOTSUPP;
            case NOT_PERMITTED -> ErrorNumber.EFAULT;
            case ADDRESS_IN_USE, ADDRESS_NOT_AVAILABLE, UNREACHABLE, TIMED_OUT -> ErrorNumber.EADDRNOTAVAIL;
            case NO_DEVICE -> ErrorNumber.ENODEV;
            case BAD_RANGE,
                    INVALID,
                    NOT_FOUND,
                    REJECTED,
                    PROTOCOL,
                    CONNECTION_LOST,
                    INTERRUPTED,
                    QUEUE_OVERRUN,
                    OTHER -> ErrorNumber.EINVAL;
        };
    }
}
