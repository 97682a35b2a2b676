package org.softrdma.run.card;

import java.util.EnumSet;
import java.util.Set;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.verbs.AccessFlag;

/** Rights as verbs number them. */
public final class AccessBits {
    private static final int LOCAL_WRITE = 1;
    private static final int REMOTE_WRITE = 1 << 1;
    private static final int REMOTE_READ = 1 << 2;
    private static final int REMOTE_ATOMIC = 1 << 3;
    private static final int BIND_WINDOWS = 1 << 4;
    /** SoftRoCE takes it, and a region's addresses are what they are. */
    static final int ZERO_BASED = 1 << 5;

    private static final int HUGE_PAGES = 1 << 7;
    /** Programs give windows the right to write locally, which says nothing there. */
    private static final int OF_WINDOW = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | ZERO_BASED;
    /** A wish that has nothing to do with rights: relaxed ordering, and others that may be ignored. */
    private static final int OPTIONAL = 0x3FF0_0000;

    private static final int KNOWN = LOCAL_WRITE
            | REMOTE_WRITE
            | REMOTE_READ
            | REMOTE_ATOMIC
            | BIND_WINDOWS
            | ZERO_BASED
            | HUGE_PAGES
            | OPTIONAL;

    private AccessBits() {}

    /** Of a region. */
    public static Set<AccessFlag> ofRegion(int bits) throws CallRefusedException {
        boolean changed = (bits & (REMOTE_WRITE | REMOTE_ATOMIC)) != 0;
        if ((bits & ~KNOWN) != 0 || (changed && (bits & LOCAL_WRITE) == 0)) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        Set<AccessFlag> access = ofPeer(bits);
        add(bits, LOCAL_WRITE, AccessFlag.LOCAL_WRITE, access);
        add(bits, BIND_WINDOWS, AccessFlag.BIND_WINDOWS, access);
        return access;
    }

    /** True if a window can have such rights. */
    static boolean areOfWindow(int bits) {
        return (bits & ~OF_WINDOW) == 0;
    }

    /** Of a queue pair's peer; the rest says nothing there. */
    public static Set<AccessFlag> ofPeer(int bits) {
        Set<AccessFlag> access = EnumSet.noneOf(AccessFlag.class);
        add(bits, REMOTE_WRITE, AccessFlag.REMOTE_WRITE, access);
        add(bits, REMOTE_READ, AccessFlag.REMOTE_READ, access);
        add(bits, REMOTE_ATOMIC, AccessFlag.REMOTE_ATOMIC, access);
        return access;
    }

    private static void add(int bits, int bit, AccessFlag flag, Set<AccessFlag> to) {
        if ((bits & bit) != 0) {
            boolean ignored = to.add(flag);
        }
    }
}
