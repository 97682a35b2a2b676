package org.softrdma.rdmacore.device;

import java.util.concurrent.atomic.LongAdder;

/** Counts asynchronous events that concern a device as a whole. Thread-safe. */
final class DeviceFaults {
    private final LongAdder deviceErrors = new LongAdder();
    private final LongAdder portErrors = new LongAdder();

    /** {@code IBV_EVENT_DEVICE_FATAL}. */
    void deviceFailed() {
        deviceErrors.increment();
    }

    /** {@code IBV_EVENT_PORT_ERR}. */
    void portFailed() {
        portErrors.increment();
    }

    long deviceErrors() {
        return deviceErrors.sum();
    }

    long portErrors() {
        return portErrors.sum();
    }
}
