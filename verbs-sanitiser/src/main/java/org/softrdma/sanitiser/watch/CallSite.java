package org.softrdma.sanitiser.watch;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.WorkCompletion;

/**
 * Where in the program a verbs method was called: stack frames from the first that is neither the sanitiser's nor the
 * JDK's.
 */
public final class CallSite {
    private static final int FRAMES = 8;
    private static final String WATCH = CallSite.class.getPackageName() + ".";
    private static final String DEVICE = WATCH.replace(".watch.", ".device.");
    private static final String COMPLETION = WorkCompletion.class.getName();
    private static final String JDK = "java.";
    private static final StackWalker WALKER = StackWalker.getInstance();

    private CallSite() {}

    /** The calls that led here, innermost first, at most 8. */
    public static List<StackTraceElement> calls() {
        return frames(FRAMES);
    }

    /** The line that called the sanitiser; null if there is none. */
    public static @Nullable StackTraceElement line() {
        List<StackTraceElement> frames = frames(1);
        return frames.isEmpty() ? null : frames.getFirst();
    }

    private static List<StackTraceElement> frames(int most) {
        return WALKER.walk(frames -> frames.dropWhile(frame -> isBelowTheProgram(frame.getClassName()))
                .limit(most)
                .map(StackWalker.StackFrame::toStackTraceElement)
                .toList());
    }

    private static boolean isBelowTheProgram(String className) {
        return className.startsWith(WATCH)
                || className.startsWith(DEVICE)
                || className.startsWith(JDK)
                || className.equals(COMPLETION);
    }
}
