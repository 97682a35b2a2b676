package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every machine dies at every message of commit, of recovery and of copies. */
class CrashLoopTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int MACHINES = 4;
    /** More than any of them has. */
    private static final int MOST_MESSAGES = 400;

    private static boolean died(int replication, CrashLoop.Death first, CrashLoop.@Nullable Death second) {
        CrashLoop loop = new CrashLoop(first.message() % 7, replication, first, second);
        try {
            return loop.run();
        } catch (RuntimeException | Error e) {
            throw new AssertionError(loop + " fails: " + e.getMessage(), e);
        }
    }

    /** Each machine at each of its messages of a commit. */
    private static int crashOnce(int replication, int step) {
        int deaths = 0;
        for (int machine = 0; machine < MACHINES; machine++) {
            int message = 1 + machine % step;
            while (message < MOST_MESSAGES && died(replication, new CrashLoop.Death(machine, message), null)) {
                deaths++;
                message += step;
            }
            boolean died = message > step || step > 1; // a sample may pass over all messages of a machine
            assertTrue(died && message < MOST_MESSAGES, "machine " + machine + ", message " + message);
        }
        System.out.println("r = " + replication + ": " + deaths + " deaths");
        return deaths;
    }

    /** And then another one at each of its messages of the recovery and of the copies. */
    private static int crashTwice(int stepOfFirst, int stepOfSecond) {
        int deaths = 0;
        for (int machine = 0; machine < MACHINES; machine++) {
            for (int message = 1 + machine; message < MOST_MESSAGES; message += stepOfFirst) {
                CrashLoop.Death first = new CrashLoop.Death(machine, message);
                int next = (machine + 1 + message % (MACHINES - 1)) % MACHINES;
                int second = 1 + message % stepOfSecond;
                int before = deaths;
                while (died(3, first, new CrashLoop.Death(next, second))) {
                    deaths++;
                    second += stepOfSecond;
                }
                if (deaths == before) {
                    break; // the first one has no such message
                }
            }
        }
        System.out.println("r = 3: " + deaths + " pairs of deaths");
        return deaths;
    }

    @Tag("sampled")
    @Timeout(600)
    @Test
    void shouldRecoverWhenAMachineDiesAtAnyMessage() {
        int step = SAMPLE > 1 ? 7 : 1;
        assertTrue(crashOnce(2, step) > 3);
        assertTrue(crashOnce(3, step) > 3);
    }

    @Tag("sampled")
    @Timeout(600)
    @Test
    void shouldRecoverWhenAnotherMachineDiesInTheRecovery() {
        assertTrue(crashTwice(SAMPLE > 1 ? 31 : 9, SAMPLE > 1 ? 41 : 7) > 3);
    }

    @Tag("slow")
    @Timeout(6000)
    @Test
    void shouldRecoverWhenAnyTwoMachinesDieAtAnyMessage() {
        boolean isShort = Boolean.getBoolean("softrdma.slow.short");
        assertTrue(crashTwice(isShort ? 13 : 1, isShort ? 9 : 1) > 10);
    }
}
