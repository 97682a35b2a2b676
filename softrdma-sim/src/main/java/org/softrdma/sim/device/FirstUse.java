package org.softrdma.sim.device;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Initialises, when a device opens, the classes that connections use first later: a class whose initialisation finds no memory
 * stays broken for as long as the process lives, and with it all connections. Any thread.
 */
final class FirstUse {
    private static final Logger LOG = LoggerFactory.getLogger(FirstUse.class);
    private static final String HERE = "org.softrdma.";

    /** Those with a static initialiser; {@code FirstUseTest} finds what is missing. */
    private static final List<String> OWN = List.of(
            "sim.carrier.MpaOutbound",
            "sim.connection.ActiveHandshake",
            "sim.connection.Connection$1",
            "sim.connection.Connection$Cause",
            "sim.connection.ConnectionLifecycle",
            "sim.connection.ConnectionLifecycle$State",
            "sim.connection.NegotiatedStream",
            "sim.connection.PassiveHandshake",
            "sim.connection.PeerHost",
            "sim.connection.StreamObserver",
            "sim.device.RegionPins$1",
            "sim.device.ResourceQuota$Kind",
            "sim.device.SoftConnectionRequest",
            "sim.device.SoftListener",
            "sim.kernel.Shortage",
            "sim.memory.AccessResult",
            "sim.memory.AccessRights",
            "sim.memory.AccessRights$1",
            "sim.memory.NativeMemory",
            "sim.memory.NearMemory",
            "sim.memory.NearMemory$Reader",
            "sim.memory.PageMemory",
            "sim.queue.InboundReadQueue",
            "sim.queue.ReceiveQueue",
            "sim.queue.SendQueue",
            "sim.rdmap.AccessCauses$1",
            "sim.rdmap.Added",
            "sim.rdmap.Incoming$1",
            "sim.rdmap.Outgoing$1",
            "sim.transport.AcceptPause",
            "sim.transport.HostSilentException",
            "sim.transport.LoopGuard",
            "sim.transport.RegisteredSocket",
            "sim.wire.MpaFrame",
            "sim.wire.Terminate",
            "sim.wire.TerminateCause",
            "verbs.CompletionOpcode",
            "verbs.CompletionStatus",
            "verbs.EndCause",
            "verbs.PostStatus",
            "verbs.QueuePairLimits",
            "verbs.QueuePairState",
            "verbs.SendOpcode",
            "verbs.VerbsErrorCode",
            "verbs.WorkCompletion",
            "verbs.cm.ConnectionParameters",
            "verbs.provider.HostMemories",
            "verbs.provider.PostingRules",
            "verbs.provider.PostingRules$1");

    private static final List<String> OF_NETTY = List.of("io.netty.util.NetUtil", "io.netty.util.internal.SocketUtils");

    private static final List<String> OF_LINUX = List.of(
            "org.softrdma.sim.transport.LinuxSocket",
            "org.softrdma.sim.transport.ReadVector",
            "io.netty.channel.unix.Errors");

    private static final List<String> OF_URING =
            List.of("org.softrdma.sim.uring.RingLoop$1", "org.softrdma.sim.uring.RingPort$1");

    private static final List<String> OF_JAVA = List.of(
            "java.nio.channels.SocketChannel",
            "sun.nio.ch.SocketChannelImpl",
            "sun.nio.ch.SocketChannelImpl$DefaultOptionsHolder",
            "sun.nio.ch.IOVecWrapper",
            "sun.nio.ch.NativeObject");

    private FirstUse() {}

    /**
     * Initialises them.
     *
     * @param transport name of the device's transport
     */
    static void prepare(String transport) {
        OWN.forEach(name -> initialise(HERE + name));
        OF_NETTY.forEach(FirstUse::initialise);
        switch (transport) {
            case "uring" -> {
                OF_LINUX.forEach(FirstUse::initialise);
                OF_URING.forEach(FirstUse::initialise);
            }
            case "epoll" -> OF_LINUX.forEach(FirstUse::initialise);
            case "nio" -> OF_JAVA.forEach(FirstUse::initialise);
            default -> LOG.debug("no classes of transport {} are prepared", transport);
        }
    }

    private static void initialise(String name) {
        try {
            Class<?> ignored = Class.forName(name, true, FirstUse.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            LOG.debug("class {} is not prepared; who needs it fails", name, e);
        }
    }
}
