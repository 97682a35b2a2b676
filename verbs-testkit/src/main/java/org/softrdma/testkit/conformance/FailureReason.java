package org.softrdma.testkit.conformance;

import java.util.Arrays;
import java.util.Optional;
import org.softrdma.verbs.VerbsException;

/** Why a case failed or was skipped, in one line. Any thread. */
public final class FailureReason {
    private FailureReason() {}

    /**
     * The message, and the place in the case.
     *
     * @param failure what the case has thrown
     */
    public static String of(Throwable failure) {
        String message;
        if (failure instanceof VerbsException verbs) {
            message = verbs.code() + ": " + verbs.getMessage();
        } else if (failure instanceof AssertionError
                || failure.getClass().getName().contains("opentest4j")) {
            message = String.valueOf(failure.getMessage());
        } else {
            message = failure.toString();
        }
        message = message.replace("\r", "").replace("\n", " ").replace("Assumption failed: ", "");
        Optional<StackTraceElement> place = Arrays.stream(failure.getStackTrace())
                .filter(element -> element.getClassName().startsWith("org.softrdma.testkit.cases."))
                .findFirst();
        boolean failed = !failure.getClass().getName().contains("TestAborted");
        return place.filter(element -> failed)
                .map(element -> " (" + element.getFileName() + ":" + element.getLineNumber() + ")")
                .map(message::concat)
                .orElse(message);
    }
}
