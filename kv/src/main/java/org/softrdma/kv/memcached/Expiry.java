package org.softrdma.kv.memcached;

/** memcached's exptime: 0 never, negative at once, up to 30 days from now, above that a time since 1970. */
public final class Expiry {
    private static final int LONGEST_RELATIVE = 60 * 60 * 24 * 30;

    /** A time long past that is not 0. */
    private static final int AT_ONCE = 1;

    private Expiry() {}

    /**
     * The time since 1970 that an exptime means, unsigned; 0 for never.
     *
     * @param exptime as the client gave it
     * @param nowSeconds the time since 1970
     */
    public static int toAbsolute(int exptime, long nowSeconds) {
        if (exptime == 0) {
            return 0;
        }
        if (exptime < 0) {
            return AT_ONCE;
        }
        return exptime > LONGEST_RELATIVE ? exptime : (int) (nowSeconds + exptime);
    }
}
