package org.softrdma.cli.command;

import java.util.Locale;

/** Who drives a software device, as {@code --progress} names it. */
public enum DeviceProgress {
    /** Threads of the device. */
    ENGINE,
    /** The thread that calls. */
    MANUAL;

    /** The value of the device option {@code progress}. */
    public String option() {
        return name().toLowerCase(Locale.ROOT);
    }
}
