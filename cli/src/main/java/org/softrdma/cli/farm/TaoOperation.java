package org.softrdma.cli.farm;

import java.util.List;

/**
 * Operations of Facebook's Tao, with their parts of its reads or of its changes (Bronson et al., USENIX ATC 2013, figure 3). We
 * leave out assoc_change_type, 0.9 % of the changes, and make as many removals as additions, so that the graph stays as it is.
 */
enum TaoOperation {
    OBJ_GET(28.9, false),
    ASSOC_RANGE(40.9, false),
    ASSOC_COUNT(11.7, false),
    ASSOC_GET(15.7, false),
    ASSOC_TIME_RANGE(2.8, false),
    /** Removed by turns with those that were added. */
    ASSOC_ADD(60.8, true),
    ASSOC_DELETE(0, true),
    OBJ_UPDATE(20.7, true),
    /** Removed by turns with those that were added. */
    OBJ_ADD(18.5, true),
    OBJ_DELETE(0, true);

    /** Those that are one READ in the paper. */
    static final List<TaoOperation> LOCK_FREE = List.of(OBJ_GET, ASSOC_RANGE, ASSOC_COUNT);

    private static final double ALL = 100;

    private final double part;
    private final boolean change;

    TaoOperation(double part, boolean change) {
        this.part = part;
        this.change = change;
    }

    /** The operation that a number from 0 to 100 stands for. */
    static TaoOperation of(double number, boolean change) {
        double rest = number;
        TaoOperation last = change ? ASSOC_ADD : OBJ_GET;
        for (TaoOperation operation : values()) {
            if (operation.change == change && operation.part > 0) {
                last = operation;
                if (rest < operation.part) {
                    return operation;
                }
                rest -= operation.part;
            }
        }
        return last;
    }

    /** What {@link #of} takes numbers below. */
    static double all() {
        return ALL;
    }

    boolean isChange() {
        return change;
    }
}
