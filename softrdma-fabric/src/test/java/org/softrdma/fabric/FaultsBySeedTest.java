package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.FaultsBySeed.Kind;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;

/** Plans by seed. */
class FaultsBySeedTest {
    private static final List<String> CLIENTS = List.of("client1", "client2");
    private static final List<String> SERVERS = List.of("server1", "server2");

    private static FaultsBySeed of(List<Kind> kinds) {
        return new FaultsBySeed(CLIENTS, SERVERS, 3, 100, 200, kinds);
    }

    @Test
    void shouldHaveEveryFaultBetweenAClientAndAServer() {
        Set<Class<?>> seen = new HashSet<>();
        Set<String> pairs = new HashSet<>();
        Set<Integer> counts = new HashSet<>();
        for (long seed = 0; seed < 300; seed++) {
            List<Fault> faults = of(List.of(Kind.values())).plan(seed).faults();
            counts.add(faults.size());
            for (Fault fault : faults) {
                When.AfterBytes when = (When.AfterBytes) fault.when();
                assertTrue(when.bytes() >= 100 && when.bytes() < 200, when::toString);
                assertTrue(
                        (CLIENTS.contains(when.from()) && SERVERS.contains(when.to()))
                                || (SERVERS.contains(when.from()) && CLIENTS.contains(when.to())),
                        when::toString);
                pairs.add(when.from() + when.to());
                seen.add(fault.what().getClass());
            }
        }
        assertEquals(8, pairs.size(), "either direction");
        assertEquals(Set.of(1, 2, 3), counts);
        assertEquals(Kind.values().length - 1, seen.size(), "both pauses are of one class");
    }

    @Test
    void shouldHaveWhatIsListedTwiceTwiceAsOften() {
        int cuts = 0;
        int resets = 0;
        for (long seed = 0; seed < 3000; seed++) {
            for (Fault fault :
                    of(List.of(Kind.CUT, Kind.RESET, Kind.RESET)).plan(seed).faults()) {
                cuts += fault.what() instanceof What.Cut ? 1 : 0;
                resets += fault.what() instanceof What.Reset ? 1 : 0;
            }
        }
        assertTrue(resets > 1.8 * cuts && resets < 2.2 * cuts, resets + " resets, " + cuts + " cuts");
    }

    /** The order of the draws: another one would make other races of all seeds that are written down anywhere. */
    @Test
    void shouldMakeTheSamePlanOfASeedAsEver() {
        FaultsBySeed faults = new FaultsBySeed(CLIENTS, List.of("server"), 3, 300, 3000, FaultsBySeed.USUAL);
        assertEquals(
                FaultPlan.NONE
                        .and(new Fault(
                                new When.AfterBytes("server", "client1", 1187),
                                new What.Partition("client1", "server", 13_223_257),
                                Fault.ALWAYS,
                                2))
                        .and(new Fault(
                                new When.AfterBytes("server", "client2", 2221), new What.Reset(), Fault.ALWAYS, 2))
                        .and(new Fault(
                                new When.AfterBytes("client2", "server", 1566), new What.Reset(), Fault.ALWAYS, 1)),
                faults.plan(6));
        assertEquals(
                FaultPlan.NONE
                        .and(new Fault(
                                new When.AfterBytes("server", "client1", 1297),
                                new What.Pause("client1", 14_769_251, false),
                                Fault.ALWAYS,
                                1))
                        .and(new Fault(
                                new When.AfterBytes("client1", "server", 839),
                                new What.PowerOff("client1"),
                                Fault.ALWAYS,
                                2)),
                faults.plan(7));
    }
}
