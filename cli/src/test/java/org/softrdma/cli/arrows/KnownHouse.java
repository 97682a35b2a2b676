package org.softrdma.cli.arrows;

import java.util.List;
import java.util.Map;

/** What {@link HouseTest} lets stay, each with its reason. These lists are to get shorter. */
final class KnownHouse {
    private static final String API =
            "The objects of the API lead to each other: a domain makes a region, and the region names its domain.";

    /** Circles of packages within a module. */
    static final List<KnownCircle> PACKAGE_CIRCLES = List.of();

    /** Circles of classes. */
    static final List<KnownCircle> CLASS_CIRCLES = List.of(
            KnownCircle.of(
                    API,
                    "verbs.AddressHandle",
                    "verbs.MemoryRegion",
                    "verbs.MemoryWindow",
                    "verbs.ProtectionDomain",
                    "verbs.QueuePair",
                    "verbs.QueuePairAttributes",
                    "verbs.ReceiveWorkRequest",
                    "verbs.Reregistration",
                    "verbs.SendWorkRequest",
                    "verbs.SendWorkRequestList",
                    "verbs.SharedReceiveQueue",
                    "verbs.UnconnectedQueuePair"),
            KnownCircle.of(
                    "The annotation of a test names its extension, as JUnit has it, and the extension reads the annotation.",
                    "junit.FabricExtension",
                    "junit.FabricTest"),
            KnownCircle.of("As above.", "junit.RdmaExtension", "junit.RdmaTest"),
            KnownCircle.of(
                    "A sealed exception names its kinds, and they extend it.",
                    "kv.client.KvException",
                    "kv.client.KvRefusedException",
                    "kv.client.KvTimeoutException"),
            KnownCircle.of(
                    "A request is made by methods of its own class, each of which makes one of the kinds.",
                    "kv.client.GetAllRequest",
                    "kv.client.GetRequest",
                    "kv.client.KvRequest",
                    "kv.client.LineRequest",
                    "kv.client.NoreplyRequest",
                    "kv.client.StatsRequest"),
            KnownCircle.of(
                    "A device makes its objects, and each of them asks its device for engines, limits and numbers.",
                    "sim.device.SoftConnectionRequest",
                    "sim.device.SoftConnector",
                    "sim.device.SoftListener",
                    "sim.device.SoftProtectionDomain",
                    "sim.device.SoftRdmaDevice"),
            KnownCircle.of(
                    "A channel gives out queues, and a queue raises events of its channel: one protocol under two locks.",
                    "sim.queue.SoftCompletionChannel",
                    "sim.queue.SoftCompletionQueue"),
            KnownCircle.of(
                    "A loop tells its ports what has come, and a port asks its loop to submit and cancel: one protocol.",
                    "sim.uring.RingLoop",
                    "sim.uring.RingPort"),
            KnownCircle.of(
                    "The model of a walk is a graph, as its objects are: ends of domains of nodes, and back.",
                    "testkit.walk.Claim",
                    "testkit.walk.WalkBinding",
                    "testkit.walk.WalkBuffer",
                    "testkit.walk.WalkConnection",
                    "testkit.walk.WalkDomain",
                    "testkit.walk.WalkEnd",
                    "testkit.walk.WalkNode",
                    "testkit.walk.WalkQueue",
                    "testkit.walk.WalkRegion",
                    "testkit.walk.WalkRequest",
                    "testkit.walk.WalkSharedQueue",
                    "testkit.walk.WalkWindow"));

    /** Names that classes of different modules share. */
    static final Map<String, String> SHARED_NAMES = Map.of();

    private KnownHouse() {}
}
