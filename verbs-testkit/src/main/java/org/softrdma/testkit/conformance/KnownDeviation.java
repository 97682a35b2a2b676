package org.softrdma.testkit.conformance;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A case that a device is known to fail. It counts as skipped while it fails, and the run fails once it passes, so
 * that the table never grows stale.
 *
 * @param provider name of the provider
 * @param device matches part of the device's name
 * @param caseNumber number of the case
 * @param reason why, with a place to read more
 */
public record KnownDeviation(String provider, Pattern device, int caseNumber, String reason) {
    private static final Pattern RXE = Pattern.compile("rxe");

    private static final Pattern SIW = Pattern.compile("siw");
    private static final String SIW_READ_RIGHT =
            "siw of Linux 6.1 answers a READ without checking the right (siw_qp_tx.c calls siw_check_sgl_tx with none)";

    private static final String SIW_SHORT_READ =
            "siw of Linux 6.1 sends too few bytes of the first page (siw_qp_tx.c, siw_try_1seg)";

    private static final String RXE_LOCAL_RANGE =
            "rxe checks local memory packet by packet (rxe_req.c, rxe_requester), so a WRITE past its region has written"
                    + " the packets before the last one";

    /** The deviations of the providers of this project. */
    public static final List<KnownDeviation> TABLE = List.of(
            new KnownDeviation("rdmacore", SIW, 9, SIW_READ_RIGHT),
            new KnownDeviation("disni", SIW, 9, SIW_READ_RIGHT),
            new KnownDeviation("rdmacore", SIW, 36, SIW_READ_RIGHT),
            new KnownDeviation("disni", SIW, 36, SIW_READ_RIGHT),
            new KnownDeviation(
                    "rdmacore",
                    SIW,
                    90,
                    "siw raises the READ depth that a listener grants to what its peer wants (siw_cm.c, siw_accept with"
                            + " relaxed_ird_negotiation)"),
            new KnownDeviation("rdmacore", SIW, 296, SIW_SHORT_READ),
            new KnownDeviation("disni", SIW, 296, SIW_SHORT_READ),
            new KnownDeviation("rdmacore", RXE, 48, RXE_LOCAL_RANGE),
            new KnownDeviation("disni", RXE, 48, RXE_LOCAL_RANGE));

    /** Checks. */
    public KnownDeviation {
        if (reason.isBlank()) {
            throw new IllegalArgumentException("known deviation of " + provider + " in case " + caseNumber
                    + " has no reason: a deviation without an explanation is a fault");
        }
    }

    /**
     * The deviation of a device in a case, if one is known.
     *
     * @param table table to search
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
