package org.softrdma.cli;

import java.util.Locale;

/** Who drives a software device, as {@code --progress} names it. */
enum PerfProgress {
    /** Threads of the device. */
    ENGINE,
    /** The thread that calls. */
    MANUAL;

    /** The value of the device option {@code progress}. */
    String option() {
        return name().toLowerCase(Locale.ROOT);
    }
}
