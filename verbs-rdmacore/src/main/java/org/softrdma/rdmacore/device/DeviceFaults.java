package org.softrdma.rdmacore.device;

import java.util.concurrent.atomic.LongAdder;
import org.softrdma.ibverbs.device.DriverEvents;
import org.softrdma.verbs.AsyncEvent.DeviceEvent;

/** Asynchronous events that concern a device as a whole: counts them and tells the application. Thread-safe. */
final class DeviceFaults {
    private final DriverEvents events;
    private final LongAdder deviceErrors = new LongAdder();
    private final LongAdder portErrors = new LongAdder();

    /**
     * Of a device without faults.
     *
     * @param events where the application takes them
     */
    DeviceFaults(DriverEvents events) {
        this.events = events;
    }

    /**
     * Something has happened to the device.
     *
     * @param kind what
     * @param detail for people
     */
    void happened(DeviceEvent.Kind kind, String detail) {
        switch (kind) {
            case FATAL -> deviceErrors.increment();
            case PORT_DOWN -> portErrors.increment();
            case PORT_ACTIVE, OTHER -> {
                // Not counted.
            }
        }
        events.add(new DeviceEvent(kind, detail), () -> true);
    }

    long deviceErrors() {
        return deviceErrors.sum();
    }

    long portErrors() {
        return portErrors.sum();
    }
}
