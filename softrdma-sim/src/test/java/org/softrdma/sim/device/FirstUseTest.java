package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.sim.flight.Flight;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.DatagramListener;
import org.softrdma.verbs.cm.DatagramService;

/** No class is looked up or initialised for the first time when a connection needs it. */
class FirstUseTest {
    private static final String OPEN = "the devices are open";
    private static final String TRANSPORT = "first-use.transport";
    private static final String WIRE = "first-use.wire";

    /** A class with a static initialiser. */
    private static final Pattern INITIALISED = Pattern.compile(".*Initializing '([^']+)' \\(0x.*");

    private static final String CLOSING = "the devices are being closed";

    /** Classes of tests; and those that the JVM makes for a lambda, which it makes again if that has failed. */
    private static final List<String> APART = List.of("/peer/", "Test", "java/lang/invoke/LambdaForm$");

    /** Packages whose code runs on engines, or when a connection begins or ends. */
    private static final List<String> ROOMS = List.of(
            "carrier",
            "connection",
            "device",
            "engine",
            "flight",
            "link",
            "memory",
            "queue",
            "rdmap",
            "roce",
            "roce/cm",
            "roce/rc",
            "roce/unreliable",
            "roce/wire",
            "samehost",
            "wire");

    /** The same of softrdma-net. */
    private static final List<String> ROOMS_OF_NET = List.of("kernel", "memory", "transport", "uring");

    /** When a device opens or closes, or memory is registered or allocated: a failure there is one of this call. */
    private static final List<String> WITH_MEMORY = List.of(
            "FirstUse.",
            "SoftRdmaDevice.<init>",
            "SoftRdmaDevice.endConnections",
            "NettyTransport.",
            "UringIoHandler.newFactory",
            "RingLoop.<init>",
            "RingTrial.",
            "Quiescence.<init>",
            "LocalSocket.effectiveUser",
            "SystemCalls.withErrno",
            "PageMemory.allocate",
            "MemoryOperations.allocateForApplication",
            "StagTable.close");

    private static final String OURS = "org/softrdma/";
    private static final String OF_NETTY = "io/netty/";
    private static final String SUFFIX = ".class";

    @Test
    void shouldLookUpAllClassesOfOthersThatEnginesName() throws Exception {
        assertEquals(String.join("\n", namedByEngines()), String.join("\n", FirstUse.named()));
    }

    @Test
    void shouldUseNothingThatIsBrokenForGoodWithoutMemory() throws Exception {
        SortedSet<String> found = new TreeSet<>();
        for (String name : ownClasses()) {
            ClassModel parsed = ClassFile.of().parse(bytes(name));
            for (MethodModel method : parsed.methods()) {
                String where = name.substring(name.lastIndexOf('/') + 1) + "."
                        + method.methodName().stringValue();
                method.code()
                        .ifPresent(code -> code.forEach(element -> {
                            if (element instanceof InvokeDynamicInstruction call && breaks(call)) {
                                found.add(where);
                            }
                        }));
            }
        }
        found.removeIf(where -> WITH_MEMORY.stream().anyMatch(where::startsWith));
        assertEquals(Set.of(), found);
    }

    /** The JVM keeps whatever failed in the linkage of such a place, if that was wrapped into an exception. */
    private static boolean breaks(InvokeDynamicInstruction call) {
        String linker = call.bootstrapMethod().owner().displayName();
        return linker.equals("SwitchBootstraps") || linker.equals("LambdaMetafactory");
    }

    /** Also what the classes of Netty name that engines name, with those around and above them. */
    private static SortedSet<String> namedByEngines() throws Exception {
        SortedSet<String> all = new TreeSet<>();
        for (String name : ownClasses()) {
            all.addAll(namedBy(bytes(name)));
        }
        for (String name : withOuterAndSuperclasses(all)) {
            all.addAll(namedBy(bytes(name)));
        }
        return all.stream()
                .filter(name -> !name.startsWith(OURS))
                .map(name -> name.replace('/', '.'))
                .filter(FirstUseTest::isThere)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** False for an annotation that Netty was compiled with. */
    private static boolean isThere(String name) {
        try {
            return Class.forName(name, false, FirstUseTest.class.getClassLoader()) != null;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static List<String> ownClasses() throws Exception {
        List<String> names = new ArrayList<>();
        addClasses(names, FirstUse.class, "org/softrdma/sim", ROOMS);
        addClasses(names, EventLoop.class, "org/softrdma/net", ROOMS_OF_NET);
        return names;
    }

    /** Adds the names of a module's classes, which lie in a directory or in a jar. */
    private static void addClasses(List<String> names, Class<?> ofModule, String prefix, List<String> rooms)
            throws Exception {
        Path code = Path.of(
                ofModule.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isDirectory(code)) {
            addClasses(names, code, prefix, rooms);
        } else {
            try (FileSystem jar = FileSystems.newFileSystem(code)) {
                addClasses(names, jar.getPath("/"), prefix, rooms);
            }
        }
    }

    private static void addClasses(List<String> names, Path root, String prefix, List<String> rooms)
            throws IOException {
        for (String room : rooms) {
            try (Stream<Path> found = Files.list(root.resolve(prefix).resolve(room))) {
                found.map(file -> root.relativize(file).toString())
                        .filter(file -> file.endsWith(SUFFIX))
                        .forEach(file -> names.add(file.substring(0, file.length() - SUFFIX.length())));
            }
        }
    }

    private static Set<String> withOuterAndSuperclasses(Set<String> names) throws IOException {
        Set<String> netty = new TreeSet<>();
        ArrayDeque<String> open = new ArrayDeque<>(names);
        for (String name = open.poll(); name != null; name = open.poll()) {
            if (name.startsWith(OF_NETTY) && netty.add(name)) {
                ClassModel parsed = ClassFile.of().parse(bytes(name));
                parsed.superclass().ifPresent(above -> open.add(above.asInternalName()));
                String outer = name.replaceFirst("\\$.*", "");
                open.add(outer);
                namedBy(bytes(outer)).stream()
                        .filter(inner -> inner.startsWith(outer + "$"))
                        .forEach(open::add);
            }
        }
        return netty;
    }

    private static byte[] bytes(String name) throws IOException {
        try (InputStream file = FirstUseTest.class.getClassLoader().getResourceAsStream(name + SUFFIX)) {
            if (file == null) {
                throw new AssertionError("no class file of " + name);
            }
            return file.readAllBytes();
        }
    }

    private static Set<String> namedBy(byte[] classFile) {
        Set<String> names = new TreeSet<>();
        for (PoolEntry entry : ClassFile.of().parse(classFile).constantPool()) {
            if (entry instanceof ClassEntry named) {
                String name = named.asInternalName().replaceFirst("^\\[+L?", "").replace(";", "");
                if (name.indexOf('/') > 0) {
                    names.add(name);
                }
            }
        }
        return names;
    }

    @Tag("sampled")
    @ParameterizedTest
    @EveryTransport
    void shouldFindItsClassesInitialisedWhenAConnectionNeedsThem(String transport) {
        requireThatNothingIsLate(transport, "iwarp");
    }

    @Tag("sampled")
    @ParameterizedTest
    @EveryTransport
    void shouldFindItsClassesInitialisedWhenAConnectionOfRoceNeedsThem(String transport) {
        requireThatNothingIsLate(transport, "roce");
    }

    private static void requireThatNothingIsLate(String transport, String wire) {
        ChildJvm.Outcome child = ChildJvm.run(
                List.of(),
                List.of(
                        "--add-opens=java.base/java.lang=ALL-UNNAMED",
                        "-Xlog:class+init=info:stdout",
                        "-D" + TRANSPORT + "=" + transport,
                        "-D" + WIRE + "=" + wire),
                FirstUseTest.class);

        assertEquals(0, child.exitCode(), child::toString);
        int open = child.lines().indexOf(OPEN);
        assertTrue(open > 0, child::toString);
        List<String> late = child.lines().subList(open, child.lines().indexOf(CLOSING)).stream()
                .map(INITIALISED::matcher)
                .filter(Matcher::matches)
                .map(matcher -> matcher.group(1))
                .filter(name -> APART.stream().noneMatch(name::contains))
                .toList();
        assertEquals(List.of(), late);
    }

    /** A loader finds without memory whatever it was asked for before. */
    private static void requireThatTheLoaderWasAsked() throws ReflectiveOperationException {
        Method asked = ClassLoader.class.getDeclaredMethod("findLoadedClass", String.class);
        asked.setAccessible(true);
        List<String> names = new ArrayList<>(FirstUse.named());
        names.addAll(FirstUse.lambdas());
        if (names.stream().noneMatch(name -> name.contains("$$Lambda$"))) {
            throw new AssertionError("the build has made no classes of lambdas");
        }
        for (String name : names) {
            if (asked.invoke(FirstUse.class.getClassLoader(), name) == null) {
                throw new AssertionError("the loader was not asked for " + name);
            }
        }
    }

    private static void requireThatTheLoopsRun() {
        Thread[] threads = new Thread[Thread.activeCount() + 1];
        int count = Thread.enumerate(threads);
        long loops = Stream.of(threads)
                .limit(count)
                .filter(thread -> thread.getName().startsWith("rnic"))
                .count();
        if (loops < 2) {
            throw new AssertionError("two devices are open, and " + loops + " threads run their loops");
        }
    }

    private static void record() {
        Flight.connectionMade(0, () -> "");
        Flight.connectionEnded(0, "");
        Flight.connectionLost(0, "");
        Flight.accessRefused(0);
    }

    private static void rejectOne(TestDevice server, TestDevice client) throws InterruptedException {
        Connector connector = client.own(client.device().resolve(server.address(), TestDevice.DEADLINE_NS));
        QueuePair pair = client.own(connector.createQueuePair(
                client.domain(), QueuePairAttributes.of(client.queue(), QueuePairLimits.DEFAULT)));
        Thread connecting = Thread.ofPlatform().name("rejected").start(() -> {
            try {
                connector.connect(ConnectionParameters.ofReads(1), TestDevice.DEADLINE_NS);
            } catch (VerbsException e) {
                // So it is to be.
            }
        });
        server.request().close();
        connecting.join();
        if (pair.state() != QueuePairState.ERROR) {
            throw new AssertionError("it was not rejected, but is " + pair.state());
        }
    }

    /** Without a connection manager. */
    private static void exchange(TestDevice server, TestDevice client, QueuePairType type) {
        UnconnectedQueuePair from = client.own(client.domain().createQueuePair(attributes(client, type)));
        UnconnectedQueuePair to = server.own(server.domain().createQueuePair(attributes(server, type)));
        MemoryRegion source = client.guarded(8).region();
        MemoryRegion inbox = server.guarded(64, AccessFlag.LOCAL_WRITE).region();
        PostStatus waiting = to.postReceive(1, inbox, 0, 64);
        PostStatus posted;
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            find(server, client, to.address());
            AddressHandle host =
                    client.own(client.domain().createAddressHandle(to.address().host()));
            posted = from.postSendTo(2, source, 0, 8, host, to.number(), 1, SendFlags.SIGNALLED);
        } else {
            to.connect(from.address(), 0, 0);
            from.connect(to.address(), 0, 0);
            posted = from.postSend(2, source, 0, 8, SendFlags.SIGNALLED);
        }
        if (waiting != PostStatus.ACCEPTED || posted != PostStatus.ACCEPTED) {
            throw new AssertionError(type + ": " + waiting + ", " + posted);
        }
        var sent = client.take(1);
        var received = server.take(1);
        if (sent.size() != received.size()) {
            throw new AssertionError(sent + ", " + received);
        }
    }

    /** By the connection manager. */
    private static void find(TestDevice server, TestDevice client, QueuePairAddress address) {
        InetSocketAddress anywhere = new InetSocketAddress(address.host().getAddress(), 0);
        DatagramService offered = new DatagramService(address.host(), address.number(), 1, new byte[0]);
        try (DatagramListener listener = server.device().listenForDatagrams(anywhere, offered)) {
            DatagramService found =
                    client.device().resolveDatagrams(listener.localAddress(), new byte[0], TestDevice.DEADLINE_NS);
            if (found.number() != address.number()) {
                throw new AssertionError("found " + found.number() + ", not " + address.number());
            }
        }
    }

    private static QueuePairAttributes attributes(TestDevice of, QueuePairType type) {
        return QueuePairAttributes.of(of.queue(), QueuePairLimits.DEFAULT)
                .withDatagrams(1)
                .withType(type);
    }

    /**
     * The child: opens two devices, and then connects them and reads.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) throws Exception {
        String wire = System.getProperty(WIRE, "iwarp");
        boolean roce = wire.equals("roce");
        List<String[]> both = TestDevice.pairOn(
                wire, "transport", System.getProperty(TRANSPORT, "auto"), "same-host", "off", "pinning", "off");
        try (TestDevice server = new TestDevice(both.getFirst());
                TestDevice client = new TestDevice(both.getLast())) {
            requireThatTheLoaderWasAsked();
            requireThatTheLoopsRun();
            record(); // an event of JFR may fail: a recording lacks it then
            System.out.println(OPEN);
            Connector connector = client.own(client.device().resolve(server.address(), TestDevice.DEADLINE_NS));
            QueuePair pair = client.own(connector.createQueuePair(
                    client.domain(), QueuePairAttributes.of(client.queue(), QueuePairLimits.DEFAULT)));
            Thread connecting = Thread.ofPlatform()
                    .name("connecting")
                    .start(() -> connector.connect(ConnectionParameters.ofReads(1), TestDevice.DEADLINE_NS));
            ConnectionRequest request = server.request();
            QueuePair serving = server.queuePair(request, QueuePairLimits.DEFAULT);
            request.accept(ConnectionParameters.ofReads(1));
            connecting.join();
            RemoteRegion source =
                    server.guarded(100, AccessFlag.REMOTE_READ).region().remote();
            MemoryRegion sink = client.guarded(100, AccessFlag.LOCAL_WRITE).region();
            PostStatus posted = pair.postRead(1, sink, 0, 100, source.address(), source.rkey(), SendFlags.SIGNALLED);
            var completions = client.take(1);
            rejectOne(server, client);
            if (roce) {
                exchange(server, client, QueuePairType.UNRELIABLE_CONNECTION);
                exchange(server, client, QueuePairType.UNRELIABLE_DATAGRAM);
            }
            pair.close();
            while (serving.state() == QueuePairState.READY_TO_SEND) {
                Thread.onSpinWait();
            }
            serving.close();
            System.out.println(CLOSING);
            System.out.println(posted + " " + completions);
        }
        System.exit(0);
    }
}
