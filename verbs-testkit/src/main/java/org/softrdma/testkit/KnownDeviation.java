package org.softrdma.testkit;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A case that a device is known to fail. It counts as skipped while it fails, and the run fails once it passes, so that the
 * table never grows stale.
 *
 * @param provider name of the provider
 * @param device matches a part of the device's name
 * @param caseNumber number of the case
 * @param reason why, with a place to read more
 */
public record KnownDeviation(String provider, Pattern device, int caseNumber, String reason) {
    /** The deviations of the providers of this project. */
    public static final List<KnownDeviation> TABLE = List.of();

    /** Checks. */
    public KnownDeviation {
        if (reason.isBlank()) {
            throw new IllegalArgumentException("known deviation of " + provider + " in case " + caseNumber
                    + " has no reason: a deviation that nobody can explain is a fault");
        }
    }

    /**
     * The deviation of a device in a case, if one is known.
     *
     * @param table where to look
     * @param providerName name of the provider
     * @param deviceName name of the device
     * @param number number of the case
     */
    static Optional<KnownDeviation> find(
            List<KnownDeviation> table, String providerName, String deviceName, int number) {
        return table.stream()
                .filter(entry -> entry.caseNumber == number
                        && entry.provider.equals(providerName)
                        && entry.device.matcher(deviceName).find())
                .findFirst();
    }
}
