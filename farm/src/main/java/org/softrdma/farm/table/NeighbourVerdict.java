package org.softrdma.farm.table;

import org.softrdma.farm.memory.ReadVerdict;

/** What a READ of two neighbours has brought. */
public enum NeighbourVerdict {
    /** Both as they were at one instant. */
    CONSISTENT,
    /** One of them was being written. */
    LOCKED,
    /** The lines of one are of different versions. */
    LINES_DIFFER,
    /** The checksum of one is wrong, and only that. */
    TORN_UNSEEN,
    /** Each is consistent, but they are of different instants. */
    JOINT_DIFFERS;

    /** What it says of the READ as a whole: buckets of two instants are like lines of two. */
    public ReadVerdict ofRead() {
        return switch (this) {
            case CONSISTENT -> ReadVerdict.CONSISTENT;
            case LOCKED -> ReadVerdict.LOCKED;
            case LINES_DIFFER, JOINT_DIFFERS -> ReadVerdict.LINES_DIFFER;
            case TORN_UNSEEN -> ReadVerdict.TORN_UNSEEN;
        };
    }

    static NeighbourVerdict of(ReadVerdict verdict) {
        return switch (verdict) {
            case CONSISTENT -> CONSISTENT;
            case LOCKED -> LOCKED;
            case LINES_DIFFER -> LINES_DIFFER;
            case TORN_UNSEEN -> TORN_UNSEEN;
        };
    }
}
