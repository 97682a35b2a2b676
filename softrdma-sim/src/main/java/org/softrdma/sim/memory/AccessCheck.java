package org.softrdma.sim.memory;

/**
 * The rule that every access to registered memory must pass, local or remote, as one pure function: domain, then right,
 * then range (RFC 5041 section 7.1, RFC 5040 section 5.4).
 */
public final class AccessCheck {
    private AccessCheck() {}

    /**
     * Checks an access of at least one byte.
     *
     * @param regionDomain protection domain of the region
     * @param regionRights rights of the region
     * @param base first address (tagged offset) of the region
     * @param regionLength bytes of the region
     * @param domain protection domain of the queue pair
     * @param rights rights that the access needs
     * @param address first address (tagged offset) of the access, unsigned
     * @param length bytes of the access, more than 0
     */
    public static AccessResult check(
            int regionDomain,
            int regionRights,
            long base,
            long regionLength,
            int domain,
            int rights,
            long address,
            long length) {
        if (regionDomain != domain) {
            return AccessResult.WRONG_DOMAIN;
        }
        if ((regionRights & rights) != rights) {
            return AccessResult.NO_RIGHT;
        }
        if (Long.compareUnsigned(address + length, address) < 0) {
            return AccessResult.ADDRESS_WRAP;
        }
        long offset = address - base;
        // Unsigned: an address below the base is a huge offset. length > regionLength would make the difference
        // negative.
        if (length > regionLength || Long.compareUnsigned(offset, regionLength - length) > 0) {
            return AccessResult.OUT_OF_BOUNDS;
        }
        return AccessResult.GRANTED;
    }
}
