package org.softrdma.run.uverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.run.kernel.CallRefusedException;

/** The table of ib_modify_qp_is_ok, asked from outside: which pairs of states there are, and what each needs at least. */
class StateTransitionsTest {
    private static final int RELIABLE = 2;
    private static final int UNRELIABLE = 3;
    private static final int DATAGRAMS = 4;
    private static final int STATES = 7;
    private static final int ALL = 0x1F_FFFF;

    private static boolean legal(int type, int from, int to, int mask) {
        try {
            StateTransitions.check(type, from, to, mask);
            return true;
        } catch (CallRefusedException e) {
            return false;
        }
    }

    /** The attributes without which it is refused; -1 if it is refused with any. */
    private static int needed(int type, int from, int to) {
        int allowed = 0;
        for (int bit = 1; bit < ALL; bit <<= 1) {
            // An attribute is allowed if adding it to what is needed is.
            for (int base : new int[] {0x1, 0x39, 0x71, 0x12_9181, 0x10_1181, 0x1_2E01, 0x1_0001}) {
                if (legal(type, from, to, base | bit)) {
                    allowed |= base | bit;
                }
            }
        }
        if (allowed == 0) {
            return -1;
        }
        int needed = 0;
        for (int bit = 1; bit < ALL; bit <<= 1) {
            if ((allowed & bit) != 0 && !legal(type, from, to, allowed & ~bit)) {
                needed |= bit;
            }
        }
        return needed;
    }

    private static List<String> table(int type) {
        List<String> rows = new ArrayList<>();
        for (int from = 0; from < STATES; from++) {
            for (int to = 0; to < STATES; to++) {
                int needed = needed(type, from, to);
                if (needed >= 0) {
                    rows.add(from + ">" + to + ":" + Integer.toHexString(needed));
                }
            }
        }
        return rows;
    }

    @Test
    void shouldHaveLinuxsTable() {
        assertEquals(
                List.of(
                        "0>0:0",
                        "0>1:38",
                        "1>0:0",
                        "1>1:0",
                        "1>2:129180",
                        "1>6:0",
                        "2>0:0",
                        "2>3:12e00",
                        "2>6:0",
                        "3>0:0",
                        "3>3:0",
                        "3>4:0",
                        "3>6:0",
                        "4>0:0",
                        "4>3:0",
                        "4>4:0",
                        "4>6:0",
                        "5>0:0",
                        "5>6:0",
                        "6>0:0",
                        "6>6:0"),
                table(RELIABLE));
        assertEquals(
                List.of(
                        "0>0:0",
                        "0>1:38",
                        "1>0:0",
                        "1>1:0",
                        "1>2:101180",
                        "1>6:0",
                        "2>0:0",
                        "2>3:10000",
                        "2>6:0",
                        "3>0:0",
                        "3>3:0",
                        "3>4:0",
                        "3>6:0",
                        "4>0:0",
                        "4>3:0",
                        "4>4:0",
                        "4>6:0",
                        "5>0:0",
                        "5>3:0",
                        "5>6:0",
                        "6>0:0",
                        "6>6:0"),
                table(UNRELIABLE));
        assertEquals(
                List.of(
                        "0>0:0",
                        "0>1:70",
                        "1>0:0",
                        "1>1:0",
                        "1>2:0",
                        "1>6:0",
                        "2>0:0",
                        "2>3:10000",
                        "2>6:0",
                        "3>0:0",
                        "3>3:0",
                        "3>4:0",
                        "3>6:0",
                        "4>0:0",
                        "4>3:0",
                        "4>4:0",
                        "4>6:0",
                        "5>0:0",
                        "5>3:0",
                        "5>6:0",
                        "6>0:0",
                        "6>6:0"),
                table(DATAGRAMS));
    }

    @Test
    void shouldRefuseAttributesThatAStateDoesNotTake() {
        assertEquals(false, legal(RELIABLE, 0, 1, 0x39 | StateTransitions.SEND_PSN));
        assertEquals(true, legal(RELIABLE, 1, 2, 0x12_9181 | StateTransitions.ACCESS));
        assertEquals(false, legal(UNRELIABLE, 2, 3, 0x1_0001 | StateTransitions.TIMEOUT));
        assertEquals(true, legal(RELIABLE, 3, 3, StateTransitions.ACCESS | StateTransitions.RNR_TIMER));
        assertEquals(false, legal(RELIABLE, 6, 0, 1 | StateTransitions.CAPACITY));
    }
}
