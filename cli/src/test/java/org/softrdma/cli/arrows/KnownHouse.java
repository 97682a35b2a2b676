package org.softrdma.cli.arrows;

import java.util.List;
import java.util.Map;

/** What {@link HouseTest} lets stay, each with its reason. These lists are to get shorter. */
final class KnownHouse {
    private static final String NOT_YET = "Not taken apart yet.";

    private static final String API =
            "The objects of the API lead to each other: a device makes a domain, and the domain names its device.";

    /** Circles of packages within a module. */
    static final List<KnownCircle> PACKAGE_CIRCLES = List.of(
            KnownCircle.of(NOT_YET, "sim", "sim.device"),
            KnownCircle.of(NOT_YET, "sim.memory", "sim.pinning"),
            KnownCircle.of(API, "verbs", "verbs.cm"),
            KnownCircle.of(NOT_YET, "testkit", "testkit.cases"));

    /** Circles of classes. */
    static final List<KnownCircle> CLASS_CIRCLES = List.of(
            KnownCircle.of(
                    NOT_YET,
                    "kv.server.AdminCommands",
                    "kv.server.ClassicCommands",
                    "kv.server.ConnectionOutput",
                    "kv.server.HelloTokens",
                    "kv.server.KvServer",
                    "kv.server.Login",
                    "kv.server.MemcachedConnection",
                    "kv.server.MemcachedPort",
                    "kv.server.MetaCommands",
                    "kv.server.RdmaCommands",
                    "kv.server.RdmaPort",
                    "kv.server.RdmaSession",
                    "kv.server.ServerStatistics"),
            KnownCircle.of(
                    NOT_YET,
                    "kv.client.CompletionLoop",
                    "kv.client.Exchange",
                    "kv.client.GetAllRequest",
                    "kv.client.GetRequest",
                    "kv.client.KvConnection",
                    "kv.client.KvRequest",
                    "kv.client.LineRequest",
                    "kv.client.NoreplyRequest",
                    "kv.client.RemoteReader",
                    "kv.client.StatsRequest",
                    "kv.client.ValuesExchange"),
            KnownCircle.of(NOT_YET, "kv.client.ArenaTable", "kv.client.ChunkTable", "kv.client.Registration"),
            KnownCircle.of(
                    NOT_YET, "kv.client.KvException", "kv.client.KvRefusedException", "kv.client.KvTimeoutException"),
            KnownCircle.of(
                    NOT_YET, "kv.server.DeviceArenas", "kv.server.RegisteredArenas", "kv.server.RegisteredChunks"),
            KnownCircle.of(NOT_YET, "kv.store.ItemDescriptor", "kv.store.Locator"),
            KnownCircle.of(
                    NOT_YET,
                    "sim.engine.Connection",
                    "sim.engine.Favourite",
                    "sim.engine.InboundStream",
                    "sim.engine.OnLoopOnce",
                    "sim.engine.OpenConnections",
                    "sim.engine.OutboundStream",
                    "sim.engine.Residue",
                    "sim.engine.RnicEngine",
                    "sim.engine.SecondLook",
                    "sim.engine.SoftQueuePair",
                    "sim.engine.StreamReceiver",
                    "sim.engine.TransmitBatch"),
            KnownCircle.of(
                    NOT_YET,
                    "sim.device.SoftConnectionRequest",
                    "sim.device.SoftConnector",
                    "sim.device.SoftListener",
                    "sim.device.SoftProtectionDomain",
                    "sim.device.SoftRdmaDevice"),
            KnownCircle.of(NOT_YET, "sim.capture.CapturingSocket", "sim.capture.CapturingTransport"),
            KnownCircle.of(NOT_YET, "sim.memory.Registrar", "sim.memory.SoftMemoryRegion"),
            KnownCircle.of(NOT_YET, "sim.queue.SoftCompletionChannel", "sim.queue.SoftCompletionQueue"),
            KnownCircle.of(
                    API,
                    "verbs.MemoryRegion",
                    "verbs.ProtectionDomain",
                    "verbs.QueuePair",
                    "verbs.ReceiveWorkRequest",
                    "verbs.SendWorkRequest",
                    "verbs.SendWorkRequestList",
                    "verbs.VerbsDevice",
                    "verbs.cm.ConnectionRequest",
                    "verbs.cm.Connector",
                    "verbs.cm.Listener"),
            KnownCircle.of(
                    NOT_YET,
                    "disni.device.DisniCmId",
                    "disni.device.DisniCompletionChannel",
                    "disni.device.DisniCompletionQueue",
                    "disni.device.DisniConnectionManager",
                    "disni.device.DisniDevice",
                    "disni.device.DisniProtectionDomain",
                    "disni.device.DisniQueuePair",
                    "disni.device.EventPump"),
            KnownCircle.of(
                    NOT_YET,
                    "ibverbs.device.CmId",
                    "ibverbs.device.ConnectionManager",
                    "ibverbs.device.NativeCompletionChannel",
                    "ibverbs.device.NativeCompletionQueue",
                    "ibverbs.device.NativeConnectionRequest",
                    "ibverbs.device.NativeConnector",
                    "ibverbs.device.NativeDevice",
                    "ibverbs.device.NativeListener",
                    "ibverbs.device.NativeMemoryRegion",
                    "ibverbs.device.NativeProtectionDomain",
                    "ibverbs.device.NativeQueuePair",
                    "ibverbs.device.QueuePairParts"),
            KnownCircle.of(
                    NOT_YET,
                    "rdmacore.device.CoreCmId",
                    "rdmacore.device.CoreCompletionChannel",
                    "rdmacore.device.CoreCompletionQueue",
                    "rdmacore.device.CoreConnectionManager",
                    "rdmacore.device.CoreDevice",
                    "rdmacore.device.CoreProtectionDomain",
                    "rdmacore.device.CoreQueuePair",
                    "rdmacore.device.SharedContext"),
            KnownCircle.of(
                    NOT_YET,
                    "testkit.CompletionReader",
                    "testkit.ConnectionSpec",
                    "testkit.Endpoint",
                    "testkit.Fabric",
                    "testkit.LoopbackPair",
                    "testkit.Node",
                    "testkit.Task"));

    /** Names that classes of different modules share. */
    static final Map<String, String> SHARED_NAMES = Map.of("AddressText", NOT_YET, "Transport", NOT_YET);

    private KnownHouse() {}
}
