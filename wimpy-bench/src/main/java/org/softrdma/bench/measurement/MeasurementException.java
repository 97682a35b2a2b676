package org.softrdma.bench.measurement;

import java.io.Serial;

/** A measurement could not be made or went wrong; the message is one sentence for the person who asked for it. */
public final class MeasurementException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what went wrong and what to do about it
     */
    public MeasurementException(String message) {
        super(message);
    }

    /**
     * Makes one with a cause.
     *
     * @param message what went wrong and what to do about it
     * @param cause what led to it
     */
    public MeasurementException(String message, Throwable cause) {
        super(message, cause);
    }
}
