package org.softrdma.net.kernel;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells failures for want of something that may be there again later (descriptors, memory of the kernel, ports) from all
 * others. The JDK and Netty give most of their errors as text only. Stateless; any thread.
 */
public final class Shortage {
    private static final int ENOMEM = 12;
    private static final int ENFILE = 23;
    private static final int EMFILE = 24;
    private static final int ENOSPC = 28;
    private static final int ENOBUFS = 105;
    private static final Set<Integer> ERRNOS = Set.of(ENOMEM, ENFILE, EMFILE, ENOSPC, ENOBUFS);
    private static final List<String> TEXTS = List.of(
            "Too many open files", // in system, too
            "Cannot allocate memory",
            "No space left on device", // also of epoll_ctl(2): watches
            "No buffer space available");

    /** Of connect(2): there is no port for this end. Of bind(2) it means something else. */
    private static final String NO_ADDRESS = "Cannot assign requested address";

    private Shortage() {}

    /** True if a failure, or what has caused it, is for want of descriptors or of the kernel's memory. */
    public static boolean is(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            boolean known = cause instanceof SystemCallException call
                    ? ERRNOS.contains(call.errno())
                    : TEXTS.stream().anyMatch(text(cause)::contains);
            if (known) {
                return true;
            }
        }
        return false;
    }

    /** True if a connect has failed for want of a port for this end. */
    public static boolean isOfPorts(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (text(cause).contains(NO_ADDRESS)) {
                return true;
            }
        }
        return false;
    }

    private static String text(Throwable cause) {
        @Nullable String message = cause.getMessage();
        return message == null ? "" : message;
    }
}
