package org.softrdma.verbs;

/**
 * Something happened to the device.
 *
 * @param kind what happened
 * @param detail for people, for example the number of the port
 */
public record DeviceEvent(Kind kind, String detail) implements AsyncEvent {
    /** What can happen to a device. */
    public enum Kind {
        /** A port can be used (C: {@code IBV_EVENT_PORT_ACTIVE}). */
        PORT_ACTIVE,
        /** A port cannot be used any more (C: {@code IBV_EVENT_PORT_ERR}). */
        PORT_DOWN,
        /** The device failed (C: {@code IBV_EVENT_DEVICE_FATAL}). */
        FATAL,
        /** Anything else that the driver tells: addresses, keys or subnet managers have changed. */
        OTHER
    }
}
