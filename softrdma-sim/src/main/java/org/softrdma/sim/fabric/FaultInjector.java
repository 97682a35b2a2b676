package org.softrdma.sim.fabric;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.fabric.baton.Baton;
import org.softrdma.sim.fabric.baton.Source;
import org.softrdma.sim.fabric.fault.Fault;
import org.softrdma.sim.fabric.fault.FaultPlan;
import org.softrdma.sim.fabric.fault.What;
import org.softrdma.sim.fabric.fault.When;
import org.softrdma.sim.fabric.network.Inspector;
import org.softrdma.sim.fabric.network.Network;
import org.softrdma.sim.wire.MessageKind;

/** Makes the faults of a plan happen. Whoever holds the baton. */
final class FaultInjector implements Inspector, Source {
    private final Baton baton;
    private final Network network;
    private final long beginNs;
    private final List<Armed> armed = new ArrayList<>();
    private final Map<InetAddress, FabricNode> nodes = new HashMap<>();
    private final Map<String, FabricNode> byName = new HashMap<>();

    /** A fault and how often it may still happen. */
    private static final class Armed {
        final Fault fault;
        int left;

        Armed(Fault fault) {
            this.fault = fault;
            left = fault.times();
        }
    }

    FaultInjector(Baton baton, Network network, FaultPlan plan) {
        this.baton = baton;
        this.network = network;
        beginNs = baton.nanoTime();
        plan.faults().forEach(fault -> armed.add(new Armed(fault)));
    }

    void add(FabricNode node) {
        nodes.put(node.address(), node);
        byName.put(node.name(), node);
    }

    // ---- occasions

    @Override
    public long next(Passage passage, long from) {
        long next = Long.MAX_VALUE;
        for (Armed each : armed) {
            if (each.left > 0
                    && each.fault.when() instanceof When.AfterBytes after
                    && after.bytes() >= from
                    && matches(passage, after.from(), after.to())) {
                next = Math.min(next, after.bytes());
            }
        }
        return next;
    }

    @Override
    public void sent(Passage passage) {
        for (Armed each : List.copyOf(armed)) {
            if (each.fault.when() instanceof When.AfterBytes after
                    && after.bytes() == passage.sentBytes()
                    && matches(passage, after.from(), after.to())) {
                occur(each, what -> happen(what, passage));
            }
        }
    }

    @Override
    public void begun(Passage passage, MessageKind kind, int number) {
        for (Armed each : List.copyOf(armed)) {
            if (each.fault.when() instanceof When.OnMessage on
                    && on.kind() == kind
                    && (on.number() == 0 || on.number() == number)
                    && matches(passage, on.from(), on.to())) {
                occur(each, what -> happen(what, passage));
            }
        }
    }

    @Override
    public void sent(DatagramPassage passage, int number) {
        for (Armed each : List.copyOf(armed)) {
            if (each.fault.when() instanceof When.OnDatagram on
                    && (on.number() == 0 || on.number() == number)
                    && matches(on.from(), nodes.get(passage.from()))
                    && matches(on.to(), nodes.get(passage.to()))) {
                occur(each, what -> happen(what, passage));
            }
        }
    }

    private boolean matches(Passage passage, String from, String to) {
        return matches(from, nodes.get(passage.from())) && matches(to, nodes.get(passage.to()));
    }

    private static boolean matches(String name, @Nullable FabricNode node) {
        return name.equals(When.ANY) || (node != null && name.equals(node.name()));
    }

    @Override
    public long nextNs() {
        long next = NEVER;
        for (Armed each : armed) {
            if (each.left > 0 && each.fault.when() instanceof When.AtTime at) {
                next = Math.min(next, beginNs + at.ns());
            }
        }
        return next;
    }

    @Override
    public void step() {
        for (Armed each : List.copyOf(armed)) {
            if (each.left > 0 && each.fault.when() instanceof When.AtTime at && beginNs + at.ns() <= baton.nanoTime()) {
                occur(each, _ -> {});
                each.left = 0; // its time does not come again
                return;
            }
        }
    }

    // ---- what happens

    /** Perhaps, to what has set it off, and to nodes. */
    private void occur(Armed one, Consumer<What> toPassage) {
        if (one.left <= 0 || !baton.choices().chance(one.fault.perMille())) {
            return;
        }
        one.left--;
        toPassage.accept(one.fault.what());
        happen(one.fault.what());
    }

    private static void happen(What what, Passage passage) {
        switch (what) {
            case What.Reset() -> passage.reset();
            case What.Delay(long ns) -> passage.delay(ns);
            case What.Corrupt(int bit) -> passage.corruptNext(bit);
            case What.Partition _, What.Kill _, What.PowerOff _, What.Pause _, What.Lose _, What.Repeat _ -> {
                // Not to a connection.
            }
        }
    }

    private static void happen(What what, DatagramPassage passage) {
        switch (what) {
            case What.Lose() -> passage.lose();
            case What.Repeat() -> passage.repeat();
            case What.Delay(long ns) -> passage.delay(ns);
            case What.Partition _, What.Kill _, What.PowerOff _, What.Pause _, What.Reset _, What.Corrupt _ -> {
                // Not to a datagram.
            }
        }
    }

    private void happen(What what) {
        switch (what) {
            case What.Partition(String one, String other, long ns) ->
                network.partition(node(one).address(), node(other).address(), ns);
            case What.Kill(String node) -> node(node).kill();
            case What.PowerOff(String node) -> node(node).powerOff();
            case What.Pause(String node, long ns, boolean devices) -> pause(node(node), ns, devices);
            case What.Reset _, What.Delay _, What.Corrupt _, What.Lose _, What.Repeat _ -> {
                // To a connection or a datagram.
            }
        }
    }

    private static void pause(FabricNode node, long ns, boolean devices) {
        if (devices) {
            node.pause(ns);
        } else {
            node.pauseProcesses(ns);
        }
    }

    private FabricNode node(String name) {
        FabricNode node = byName.get(name);
        if (node == null) {
            throw new IllegalArgumentException(
                    "the fault plan names a node \"" + name + "\": expected one of " + byName.keySet());
        }
        return node;
    }
}
