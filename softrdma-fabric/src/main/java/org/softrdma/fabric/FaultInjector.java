package org.softrdma.fabric;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.fault.ArmedFault;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.Resource;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.fabric.network.Inspector;
import org.softrdma.fabric.network.Network;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.Source;

/** Makes the faults of a plan happen. */
final class FaultInjector implements Inspector, Source {
    private final Scheduler scheduler;
    private final Network network;
    private final long beginNs;
    private final List<ArmedFault> armed = new ArrayList<>();
    private final Map<InetAddress, FabricNode> nodes = new HashMap<>();
    private final Map<String, FabricNode> byName = new HashMap<>();

    FaultInjector(Scheduler scheduler, Network network, FaultPlan plan) {
        this.scheduler = scheduler;
        this.network = network;
        beginNs = scheduler.nanoTime();
        plan.faults().forEach(fault -> armed.add(new ArmedFault(requireOfNodes(fault))));
    }

    /** Programs of a fabric are in Java and have no calls that a kernel answers. */
    private static Fault requireOfNodes(Fault fault) {
        if (fault.when() instanceof When.ForVerbs || fault.what() instanceof What.OfCard) {
            throw new IllegalArgumentException(
                    fault + ": expected a fault of connections, datagrams or nodes; this one is for softrdma run");
        }
        return fault;
    }

    void add(FabricNode node) {
        nodes.put(node.address(), node);
        byName.put(node.name(), node);
    }

    // ---- occasions

    @Override
    public long next(Passage passage, long from) {
        long next = Long.MAX_VALUE;
        for (ArmedFault each : armed) {
            if (each.left() > 0
                    && each.fault().when() instanceof When.AfterBytes after
                    && after.bytes() >= from
                    && matches(passage, after)) {
                next = Math.min(next, after.bytes());
            }
        }
        return next;
    }

    @Override
    public void sent(Passage passage) {
        for (ArmedFault each : List.copyOf(armed)) {
            if (each.fault().when() instanceof When.AfterBytes after
                    && after.bytes() == passage.sentBytes()
                    && matches(passage, after)) {
                occur(each, passage);
            }
        }
    }

    @Override
    public void begun(Passage passage, Message message) {
        for (ArmedFault each : List.copyOf(armed)) {
            if (isOccasion(each, passage, message)) {
                occur(each, passage);
            }
        }
    }

    @Override
    public void sent(DatagramPassage passage, int number) {
        for (ArmedFault each : List.copyOf(armed)) {
            if (each.fault().when() instanceof When.ForDatagram on && isOccasion(on, passage, number) && occurs(each)) {
                switch (each.fault().what()) {
                    case What.OnDatagram what -> happen(what, passage);
                    case What what -> happen(what);
                }
            }
        }
    }

    private boolean isOccasion(When.ForDatagram when, DatagramPassage passage, int number) {
        boolean itsNumber = switch (when) {
            case When.OnDatagram on -> isNumber(on.number(), number);
            case When.OnPacket on ->
                passage.packet()
                        .filter(packet -> packet.kind() == on.kind() && isNumber(on.number(), packet.number()))
                        .isPresent();
        };
        return itsNumber
                && matches(when.from(), nodes.get(passage.from()))
                && matches(when.to(), nodes.get(passage.to()));
    }

    private static boolean isNumber(int planned, int number) {
        return planned == When.EACH || planned == number;
    }

    @Override
    public boolean awaits(Passage passage, Message message) {
        for (ArmedFault each : armed) {
            if (isOccasion(each, passage, message)) {
                return true;
            }
        }
        return false;
    }

    private boolean isOccasion(ArmedFault one, Passage passage, Message message) {
        return one.left() > 0
                && switch (one.fault().when()) {
                    case When.OnMessage on ->
                        on.kind() == message.kind() && isNumber(on.number(), message.number()) && matches(passage, on);
                    case When.OnRequest on -> message.wrId().equals(OptionalLong.of(on.wrId())) && matches(passage, on);
                    case When.AfterBytes _, When.AtTime _, When.ForDatagram _, When.ForVerbs _ -> false;
                };
    }

    private boolean matches(Passage passage, When.OnConnection where) {
        return (where.connection() == When.EACH || where.connection() == passage.connection())
                && matches(where.from(), nodes.get(passage.from()))
                && matches(where.to(), nodes.get(passage.to()));
    }

    private static boolean matches(String name, @Nullable FabricNode node) {
        return name.equals(When.ANY) || (node != null && name.equals(node.name()));
    }

    @Override
    public long nextNs() {
        long next = NEVER;
        for (ArmedFault each : armed) {
            if (each.left() > 0 && each.fault().when() instanceof When.AtTime at) {
                next = Math.min(next, beginNs + at.ns());
            }
        }
        return next;
    }

    /** What is planned for the beginning happens before anything else. */
    void begin() {
        while (nextNs() <= scheduler.nanoTime()) {
            step();
        }
    }

    @Override
    public void step() {
        for (ArmedFault each : List.copyOf(armed)) {
            if (each.left() > 0
                    && each.fault().when() instanceof When.AtTime at
                    && beginNs + at.ns() <= scheduler.nanoTime()) {
                occur(each, null);
                each.end(); // its time does not come again
                return;
            }
        }
    }

    // ---- what happens

    private void occur(ArmedFault one, @Nullable Passage passage) {
        if (occurs(one)) {
            switch (one.fault().what()) {
                case What.OnConnection what when passage != null -> happen(what, passage);
                case What what -> happen(what);
            }
        }
    }

    private boolean occurs(ArmedFault one) {
        return one.occurs(scheduler.choices()::chance);
    }

    private static void happen(What.OnConnection what, Passage passage) {
        switch (what) {
            case What.Reset() -> passage.reset();
            case What.Cut() -> passage.cut();
            case What.Stall(long ns) -> passage.stall(ns);
            case What.Slow(int bytes, long perNs) -> passage.slow(bytes, perNs);
            case What.Delay(long ns) -> passage.delay(ns);
            case What.Corrupt(int bit) -> passage.corruptNext(bit);
        }
    }

    private static void happen(What.OnDatagram what, DatagramPassage passage) {
        switch (what) {
            case What.Lose() -> passage.lose();
            case What.Repeat() -> passage.repeat();
            case What.Delay(long ns) -> passage.delay(ns);
        }
    }

    private void happen(What what) {
        switch (what) {
            case What.Partition(String one, String other, long ns) ->
                network.partition(node(one).address(), node(other).address(), ns);
            case What.Kill(String node) -> node(node).kill();
            case What.PowerOff(String node) -> node(node).powerOff();
            case What.Pause(String node, long ns, boolean devices) -> pause(node(node), ns, devices);
            case What.SlowNode(String node, int bytes, long perNs) -> node(node).slow(bytes, perNs);
            case What.Quota(String node, Resource resource, long most) ->
                node(node).limit(resource, most);
            case What.OnConnection _ -> throw new IllegalStateException(what + " without a connection");
            case What.OnDatagram _ -> throw new IllegalStateException(what + " without a datagram");
            case What.OfCard _ -> throw new IllegalStateException(what + " without a card");
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
