package org.softrdma.sim.memory;

import java.util.EnumSet;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;

/** Access flags as bits in a row of the stag table. */
public final class AccessRights {
    /** The engine may write for local requests. */
    public static final int LOCAL_WRITE = 1;
    /** A peer may WRITE. */
    public static final int REMOTE_WRITE = 1 << 1;
    /** A peer may READ. */
    public static final int REMOTE_READ = 1 << 2;
    /** Not a right: the region's pages are pinned on first use. */
    public static final int LAZY = 1 << 3;
    /** Not a right: moved by whole words, the last word of a message last. */
    public static final int POLLED = 1 << 4;
    /** A peer may change words by atomics. */
    public static final int REMOTE_ATOMIC = 1 << 5;
    /** Windows may be bound to it. */
    public static final int BIND_WINDOWS = 1 << 6;
    /** Not a right: the row is a memory window. */
    static final int WINDOW = 1 << 7;
    /** Not a right: peers name the first byte of the window 0. */
    public static final int ZERO_BASED_WINDOW = 1 << 8;
    /** Not rights but ways in which memory is used, which a window has from its region. */
    static final int WAYS = LAZY | POLLED;
    /** Nothing beyond local read. */
    public static final int NONE = 0;

    private static final AccessFlag[] FLAGS = AccessFlag.values();

    private AccessRights() {}

    /** The rights that a set of flags and intents needs. */
    public static int of(Set<AccessFlag> flags) {
        int rights = NONE;
        for (AccessFlag flag : FLAGS) { // an array: the iterator of a set is an object
            if (flags.contains(flag)) {
                rights |= of(flag);
            }
        }
        return rights;
    }

    private static int of(AccessFlag flag) {
        return switch (flag) {
            case LOCAL_WRITE, READ_SINK, RECEIVE_SINK -> LOCAL_WRITE;
            case REMOTE_WRITE -> REMOTE_WRITE;
            case REMOTE_READ -> REMOTE_READ;
            case REMOTE_ATOMIC -> REMOTE_ATOMIC | POLLED; // READs and WRITEs of a word are whole, beside atomics
            case POLLED -> POLLED;
            case BIND_WINDOWS -> BIND_WINDOWS;
            case ZERO_BASED -> NONE;
        };
    }

    /** The flags, with the rights that their intents add. */
    public static Set<AccessFlag> granted(Set<AccessFlag> flags) {
        EnumSet<AccessFlag> granted = EnumSet.noneOf(AccessFlag.class);
        granted.addAll(flags);
        if ((of(flags) & LOCAL_WRITE) != 0) {
            granted.add(AccessFlag.LOCAL_WRITE);
        }
        return granted;
    }
}
