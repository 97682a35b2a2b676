package org.softrdma.sim.device;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.verbs.provider.PostingRules;

/**
 * Looks up, when a device opens, the classes that engines and connections use first later. Two things need memory the first
 * time:
 *
 * <ul>
 *   <li>Code that names a class of the JDK or of a library asks the class loader for it when it first gets there. A
 *       {@code catch} clause that does so without memory throws, and so ends the thread that it was to save.
 *   <li>A class whose initialisation finds no memory stays broken for as long as the process lives, and with it all
 *       connections.
 * </ul>
 *
 * <p>The JVM asks once for all classes of a loader, so each name is looked up once. Some uses are broken for good as well if
 * there is no memory for the first: a lambda, a switch over types, the texts and comparisons that records have from the compiler.
 * The build replaces lambdas by classes (ci/LambdasAsClasses.java), which are made ready here, too. Nothing helps against the
 * others, so code of engines has none of them; {@code FirstUseTest} finds those, too. Any thread.
 */
final class FirstUse {
    private static final Logger LOG = LoggerFactory.getLogger(FirstUse.class);
    private static final String HERE = "org.softrdma.";

    /** All classes of others that code of engines names; {@code FirstUseTest} finds what is missing. */
    private static final String NAMED = "first-use.txt";

    /** What the build has made of lambdas. */
    private static final String LAMBDAS = "lambdas.txt";

    /** Of the JDK, with a static initialiser; {@code FirstUseTest} finds what is missing here, too. */
    private static final List<String> OF_THE_JDK = List.of(
            "java.util.OptionalInt",
            "java.util.concurrent.ForkJoinTask",
            "java.util.concurrent.ThreadLocalRandom",
            "java.util.concurrent.locks.AbstractQueuedSynchronizer$Node",
            "java.util.concurrent.locks.LockSupport",
            "jdk.internal.foreign.SegmentBulkOperations",
            "jdk.internal.foreign.Utils$BaseAndScale",
            "jdk.internal.util.Architecture",
            "jdk.internal.util.random.RandomSupport");

    /** Those with a static initialiser that every wire uses; {@code FirstUseTest} finds what is missing. */
    private static final List<String> OWN = List.of(
            "net.kernel.Shortage",
            "net.memory.NativeMemory",
            "net.transport.AcceptPause",
            "net.transport.HostSilentException",
            "net.transport.LoopGuard",
            "net.transport.RegisteredStream",
            "sim.device.RegionPins$1",
            "sim.device.ResourceQuota$Kind",
            "sim.device.SoftConnectionRequest",
            "sim.device.SoftConnector",
            "sim.device.SoftListener",
            "sim.link.ConnectAttempt",
            "sim.memory.AccessResult",
            "sim.memory.AccessRights",
            "sim.memory.AccessRights$1",
            "sim.memory.PageMemory",
            "sim.queue.ReceiveQueue",
            "sim.queue.SendQueue",
            "sim.samehost.ReadingThread",
            "verbs.CompletionOpcode",
            "verbs.CompletionStatus",
            "verbs.EndCause",
            "verbs.PostStatus",
            "verbs.QueuePairLimits",
            "verbs.QueuePairState",
            "verbs.QueuePairType",
            "verbs.SendOpcode",
            "verbs.VerbsErrorCode",
            "verbs.WorkCompletion",
            "verbs.cm.ConnectionParameters",
            "verbs.provider.HostMemories",
            "verbs.provider.PostingRules",
            "verbs.provider.PostingRules$1");

    private static final List<String> OF_NETTY = List.of("io.netty.util.NetUtil", "io.netty.util.internal.SocketUtils");

    private static final List<String> OF_LINUX = List.of(
            "org.softrdma.net.kernel.Descriptor",
            "org.softrdma.net.transport.LinuxSocket",
            "org.softrdma.net.transport.ReadVector",
            "io.netty.channel.unix.Errors");

    private static final List<String> OF_URING =
            List.of("org.softrdma.net.uring.RingLoop$1", "org.softrdma.net.uring.RingPort$1");

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
     * @param ofWire further names, below {@code org.softrdma.}
     */
    static void prepare(String transport, List<String> ofWire) {
        named().forEach(FirstUse::find);
        lambdas().forEach(FirstUse::initialise);
        OF_THE_JDK.forEach(FirstUse::initialise);
        link();
        OWN.forEach(name -> initialise(HERE + name));
        ofWire.forEach(name -> initialise(HERE + name));
        OF_NETTY.forEach(FirstUse::initialise);
        switch (transport) {
            case "uring" -> {
                OF_LINUX.forEach(FirstUse::initialise);
                OF_URING.forEach(FirstUse::initialise);
            }
            case "epoll" -> OF_LINUX.forEach(FirstUse::initialise);
            case "nio" -> {
                OF_JAVA.forEach(FirstUse::initialise);
                closeChannel();
            }
            default -> LOG.debug("no classes of transport {} are prepared", transport);
        }
    }

    /** Uses what the JDK links when it is first used: a peer whose request could not be decided on would wait for ever. */
    private static void link() {
        AtomicBoolean decided = new AtomicBoolean();
        CompletableFuture<Void> failed = new CompletableFuture<>();
        if (!decided.compareAndSet(false, true) || !failed.completeExceptionally(new IOException("the first use"))) {
            throw new IllegalStateException("the first use of " + decided + " and " + failed);
        }
    }

    /** A channel whose first close finds no memory stays open. */
    private static void closeChannel() {
        try (SocketChannel channel = SocketChannel.open()) {
            SelectableChannel ignored = channel.configureBlocking(false);
        } catch (IOException e) {
            LOG.debug("no channel was closed", e);
        }
    }

    /** The names that engines use. */
    static List<String> named() {
        return lines(FirstUse.class, NAMED);
    }

    /** The classes that the build has made of lambdas: here, of the API, and of event loops. */
    static List<String> lambdas() {
        return Stream.of(FirstUse.class, PostingRules.class, EventLoop.class)
                .flatMap(beside -> lines(beside, LAMBDAS).stream())
                .toList();
    }

    /** Lines of a resource; none if it is missing: an IDE may leave out the step of the build that makes one. */
    private static List<String> lines(Class<?> beside, String name) {
        try (InputStream file = beside.getResourceAsStream(name)) {
            if (file == null) {
                LOG.debug("there is no resource {} beside {}", name, beside);
                return List.of();
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void find(String name) {
        prepare(name, false);
    }

    private static void initialise(String name) {
        prepare(name, true);
    }

    private static void prepare(String name, boolean initialised) {
        try {
            Class<?> ignored = Class.forName(name, initialised, FirstUse.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            LOG.debug("class {} is not prepared; who needs it fails", name, e);
        }
    }
}
