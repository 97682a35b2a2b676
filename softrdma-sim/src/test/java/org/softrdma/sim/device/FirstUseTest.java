package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.sim.peer.ChildJvm;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.sim.transport.EveryTransport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** No class of ours or of Netty's is initialised for the first time when a connection needs it. */
class FirstUseTest {
    private static final String OPEN = "the devices are open";
    private static final String TRANSPORT = "first-use.transport";

    /** A class with a static initialiser. */
    private static final Pattern INITIALISED =
            Pattern.compile(".*Initializing '((?:org/softrdma/sim|org/softrdma/verbs|io/netty)/[^']+)' \\(0x.*");

    /** Classes of tests; and JFR's events, which may fail: a recording lacks an event then. */
    private static final List<String> APART = List.of("/peer/", "/flight/", "Test");

    @ParameterizedTest
    @EveryTransport
    void shouldFindItsClassesInitialisedWhenAConnectionNeedsThem(String transport) {
        ChildJvm.Outcome child = ChildJvm.run(
                List.of(),
                List.of("-Xlog:class+init=info:stdout", "-D" + TRANSPORT + "=" + transport),
                FirstUseTest.class);

        assertEquals(0, child.exitCode(), child::toString);
        int open = child.lines().indexOf(OPEN);
        assertTrue(open > 0, child::toString);
        List<String> late = child.lines().stream()
                .skip(open)
                .map(INITIALISED::matcher)
                .filter(Matcher::matches)
                .map(matcher -> matcher.group(1))
                .filter(name -> APART.stream().noneMatch(name::contains))
                .toList();
        assertEquals(List.of(), late);
    }

    /**
     * The child: opens two devices, and then connects them and reads.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) throws InterruptedException {
        String[] options = {"transport", System.getProperty(TRANSPORT, "auto"), "same-host", "off", "pinning", "off"};
        try (TestDevice server = new TestDevice(options);
                TestDevice client = new TestDevice(options)) {
            System.out.println(OPEN);
            Connector connector = client.own(client.device().resolve(server.address(), TestDevice.DEADLINE_NS));
            QueuePair pair = client.own(connector.createQueuePair(
                    client.domain(), QueuePairAttributes.of(client.queue(), QueuePairLimits.DEFAULT)));
            Thread connecting = Thread.ofVirtual()
                    .start(() -> connector.connect(ConnectionParameters.ofReads(1), TestDevice.DEADLINE_NS));
            ConnectionRequest request = server.request();
            QueuePair ignored = server.queuePair(request, QueuePairLimits.DEFAULT);
            request.accept(ConnectionParameters.ofReads(1));
            connecting.join();
            RemoteRegion source =
                    server.guarded(100, AccessFlag.REMOTE_READ).region().remote();
            MemoryRegion sink = client.guarded(100, AccessFlag.LOCAL_WRITE).region();
            PostStatus posted = pair.postRead(1, sink, 0, 100, source.address(), source.rkey(), SendFlags.SIGNALLED);
            System.out.println(posted + " " + client.take(1));
        }
        System.exit(0);
    }
}
