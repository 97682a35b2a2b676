package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.verbs.AccessFlag;

/** What may be registered, and what its row in the stag table allows. */
final class RegistrationRules {
    private RegistrationRules() {}

    /** Checks that memory of another process can be registered with these rights. */
    static void checkForeign(RegionBacking backing, Set<AccessFlag> access) {
        if (access.contains(AccessFlag.ZERO_BASED) || access.contains(AccessFlag.POLLED)) {
            throw new IllegalArgumentException("access=" + access
                    + ": the kernel does not move another process's memory by whole words, so it cannot be POLLED;"
                    + " instead of ZERO_BASED say base=0");
        }
        check(backing.segment(), access);
    }

    /** Checks that memory can be registered with these rights. */
    static void check(MemorySegment segment, Set<AccessFlag> access) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException("memory on the heap cannot be registered; expected a native segment");
        }
        if (segment.byteSize() < 1) {
            throw new IllegalArgumentException("length=0: expected at least 1 byte");
        }
        boolean writable = (AccessRights.of(access) & AccessRights.LOCAL_WRITE) != 0;
        if (access.contains(AccessFlag.REMOTE_WRITE) && !writable) {
            throw new IllegalArgumentException("access=" + access + ": REMOTE_WRITE needs LOCAL_WRITE");
        }
        if (access.contains(AccessFlag.REMOTE_ATOMIC) && !writable) {
            throw new IllegalArgumentException("access=" + access + ": REMOTE_ATOMIC needs LOCAL_WRITE");
        }
        if (access.contains(AccessFlag.POLLED)
                && (AccessRights.of(access) & (AccessRights.LOCAL_WRITE | AccessRights.REMOTE_READ)) == 0) {
            throw new IllegalArgumentException("access=" + access
                    + ": POLLED needs LOCAL_WRITE, for the device to write, or REMOTE_READ, for peers to read");
        }
        if (segment.isReadOnly() && (AccessRights.of(access) & AccessRights.LOCAL_WRITE) != 0) {
            throw new IllegalArgumentException("access=" + access + ": the memory is read-only");
        }
    }
}
