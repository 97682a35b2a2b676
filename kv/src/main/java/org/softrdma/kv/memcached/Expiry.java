package org.softrdma.kv.memcached;

import java.util.function.LongSupplier;

/** memcached's exptime: 0 never, negative at once, up to 30 days from now, above that a time since 1970. */
public final class Expiry {
    private static final int LONGEST_RELATIVE = 60 * 60 * 24 * 30;

    /** The latest time that 32 bits hold. */
    private static final long LATEST = 0xffff_ffffL;

    /** A time long past that is not 0. */
    private static final int AT_ONCE = 1;

    private Expiry() {}

    /**
     * The time on the server's clock that an exptime means, unsigned; 0 for never. A time since 1970 is one of the
     * wall clock, which the server's need not agree with: what is left of it counts, as it is now.
     *
     * @param exptime as the client gave it, at most 32 bits without a sign
     * @param nowSeconds the server's clock
     * @param wallSeconds the time since 1970
     */
    public static int toAbsolute(long exptime, long nowSeconds, LongSupplier wallSeconds) {
        if (exptime == 0) {
            return 0;
        }
        if (exptime < 0) {
            return AT_ONCE;
        }
        if (exptime <= LONGEST_RELATIVE) {
            return (int) (nowSeconds + exptime);
        }
        long leftSeconds = exptime - wallSeconds.getAsLong();
        return leftSeconds > 0 ? (int) Math.min(nowSeconds + leftSeconds, LATEST) : AT_ONCE;
    }
}
