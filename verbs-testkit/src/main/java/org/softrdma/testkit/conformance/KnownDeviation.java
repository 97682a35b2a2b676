package org.softrdma.testkit.conformance;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

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

    /** SoftRoCE, and the card of {@code softrdma run}, which is used through its driver. */
    private static final Pattern LIBRXE = Pattern.compile("rxe|^run$");

    private static final Pattern SIW = Pattern.compile("siw");
    private static final String SIW_READ_RIGHT =
            "siw of Linux 6.1 answers a READ without checking the right (siw_qp_tx.c calls siw_check_sgl_tx with none)";

    private static final String SIW_SHORT_READ =
            "siw of Linux 6.1 sends too few bytes of the first page (siw_qp_tx.c, siw_try_1seg)";

    private static final String RXE_LOCAL_RANGE =
            "rxe checks local memory packet by packet (rxe_req.c, rxe_requester), so a WRITE past its region has"
                    + " written the packets before the last one";

    private static final String SIW_DEPTH =
            "siw raises the READ depth that a listener grants to what its peer wants (siw_cm.c, siw_accept with"
                    + " relaxed_ird_negotiation)";

    private static final String SIW_INVALIDATES_REGIONS =
            "siw lets a peer's SEND invalidate any key of the domain, a region's too (siw_mem.c, siw_invalidate_stag)";

    private static final String RXE_INVALIDATED_FLAG =
            "rxe gives the kernel's flag of an invalidated key to user space, where that bit means something else"
                    + " (rxe_resp.c, do_complete: IB_WC_WITH_INVALIDATE is 1 << 2, IBV_WC_WITH_INV 1 << 3)";

    private static final String RXE_MISALIGNED =
            "librxe refuses a misaligned atomic when it is posted, by EINVAL (providers/rxe/rxe.c, validate_send_wr)";

    private static final String RXE_WINDOW_RANGE =
            "rxe checks what comes through a window against the region, not against the window (rxe_resp.c,"
                    + " check_rkey)";

    private static final String RXE_INVALIDATES_ALL =
            "rxe lets a peer's SEND invalidate the window of another queue pair (rxe_mw.c, rxe_check_invalidate_mw)";

    private static final String RXE_BIND_DOMAIN =
            "rxe binds a window to a region of another domain (rxe_mw.c, rxe_check_bind_mw compares only the domain of"
                    + " the window with that of the queue pair)";

    private static final String RXE_SHARED_DOMAIN =
            "rxe looks for the regions of shared RECVs in the domain of the queue pair (rxe_resp.c, send_data_in)";

    private static final String SIW_LAST_REQUEST =
            "siw of Linux 6.1 does not tell that a queue pair has taken its last shared RECV (seen in the guest)";

    private static final String RXE_LAST_REQUEST =
            "rxe of Linux 6.1 does not tell that a queue pair has taken its last shared RECV (rxe_resp.c,"
                    + " check_resource in ERROR)";

    private static final String RXE_NO_EVENTS =
            "rxe raises no event for a request that it refuses (rxe_resp.c, do_class_ac_error; rxe_qp.c, rxe_qp_error)";

    private static final String RXE_TOO_LONG =
            "rxe of Linux 6.1 fails the RECV of an unreliable SEND that is too long for it, and takes its queue pair to"
                    + " ERROR (rxe_resp.c, send_data_in: RESPST_ERR_MALFORMED_WQE)";

    /** The deviations of the providers of this project. */
    public static final List<KnownDeviation> TABLE = List.of(
            new KnownDeviation("rdmacore", SIW, 9, SIW_READ_RIGHT),
            new KnownDeviation("disni", SIW, 9, SIW_READ_RIGHT),
            new KnownDeviation("rdmacore", SIW, 36, SIW_READ_RIGHT),
            new KnownDeviation("disni", SIW, 36, SIW_READ_RIGHT),
            new KnownDeviation("rdmacore", SIW, 90, SIW_DEPTH),
            new KnownDeviation("rdmacore", SIW, 126, SIW_DEPTH),
            new KnownDeviation("rdmacore", SIW, 296, SIW_SHORT_READ),
            new KnownDeviation("disni", SIW, 296, SIW_SHORT_READ),
            new KnownDeviation("rdmacore", SIW, 362, SIW_INVALIDATES_REGIONS),
            new KnownDeviation("rdmacore", SIW, 376, SIW_LAST_REQUEST),
            new KnownDeviation("rdmacore", RXE, 48, RXE_LOCAL_RANGE),
            new KnownDeviation("rdmacore", RXE, 114, RXE_INVALIDATED_FLAG),
            new KnownDeviation("rdmacore", LIBRXE, 131, RXE_MISALIGNED),
            new KnownDeviation("rdmacore", RXE, 134, RXE_WINDOW_RANGE),
            new KnownDeviation("rdmacore", RXE, 363, RXE_INVALIDATES_ALL),
            new KnownDeviation("rdmacore", RXE, 368, RXE_BIND_DOMAIN),
            new KnownDeviation("rdmacore", RXE, 375, RXE_SHARED_DOMAIN),
            new KnownDeviation("rdmacore", RXE, 376, RXE_LAST_REQUEST),
            new KnownDeviation("rdmacore", RXE, 384, RXE_NO_EVENTS),
            new KnownDeviation("rdmacore", LIBRXE, 385, RXE_MISALIGNED),
            new KnownDeviation("rdmacore", RXE, 395, RXE_TOO_LONG),
            new KnownDeviation("rdmacore", RXE, 404, RXE_TOO_LONG),
            new KnownDeviation("disni", RXE, 48, RXE_LOCAL_RANGE));

    /** Checks. */
    public KnownDeviation {
        if (reason.isBlank()) {
            throw new IllegalArgumentException("known deviation of " + provider + " in case " + caseNumber
                    + " has no reason: a deviation without an explanation is a fault");
        }
    }

    /** The numbers of the cases in which a device deviates, separated by commas. */
    static String numbers(List<KnownDeviation> table, String providerName, String deviceName) {
        return table.stream()
                .filter(entry -> entry.isOf(providerName, deviceName))
                .map(entry -> Integer.toString(entry.caseNumber))
                .collect(Collectors.joining(","));
    }

    private boolean isOf(String providerName, String deviceName) {
        return provider.equals(providerName) && device.matcher(deviceName).find();
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
                .filter(entry -> entry.caseNumber == number && entry.isOf(providerName, deviceName))
                .findFirst();
    }
}
