package org.softrdma.testkit.walk;

import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;

/**
 * A region and the part of a buffer that it names. The walk's thread.
 *
 * @param buffer its memory
 * @param from first byte of the buffer that it names
 * @param length bytes
 * @param access what it may be used for
 * @param verbs itself
 * @param base the address of its first byte, as requests name it
 * @param lkey its key here, also once it is closed
 * @param key its rkey, also once it is closed
 */
record WalkRegion(
        WalkDomain domain,
        WalkBuffer buffer,
        int from,
        int length,
        Set<AccessFlag> access,
        MemoryRegion verbs,
        long base,
        int lkey,
        int key) {
    static WalkRegion of(WalkDomain domain, WalkBuffer buffer, int from, Set<AccessFlag> access, MemoryRegion verbs) {
        int length = (int) verbs.length();
        return new WalkRegion(domain, buffer, from, length, access, verbs, verbs.address(), verbs.lkey(), verbs.rkey());
    }

    /** It is what was asked for. */
    void require(int asked) {
        if (length != asked || !verbs.access().containsAll(access)) {
            throw new WalkFailure(this + " was to have " + asked + " bytes; it has rights " + verbs.access());
        }
    }

    boolean isOpen() {
        return domain.regions().contains(this);
    }

    boolean isReadSink() {
        return access.contains(AccessFlag.LOCAL_WRITE) || access.contains(AccessFlag.READ_SINK);
    }

    boolean isReceiveSink() {
        return access.contains(AccessFlag.LOCAL_WRITE) || access.contains(AccessFlag.RECEIVE_SINK);
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return key;
    }

    @Override
    public String toString() {
        return "region 0x" + Integer.toHexString(key) + " " + access + " of " + length + " bytes from " + from + " of "
                + buffer;
    }
}
