package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.kernel.ProcFile;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Where RoCEv2 finds its way barred, it says in a sentence what to do; what the kernel does to packets is counted. */
@Timeout(60)
class RoceObstaclesTest {
    /** Another user, without any right but that to read the files of this test wherever they are. */
    private static final List<String> NOBODY = List.of(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=+dac_read_search",
            "--ambient-caps=+dac_read_search");

    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final String ADVICE = "choose another by roce-port, here and at the peers";
    private static final String RIGHTS = "UDP ports below 1024 need root or CAP_NET_BIND_SERVICE; " + ADVICE;
    private static final int PRIVILEGED = 100;
    private static final int KEY = 1;
    private static final String DONE = "done";

    private static VerbsDevice open(Map<String, String> options) {
        return new SoftRdmaProvider().open(options);
    }

    /** Also one that is no RNIC. */
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void shouldSayWhatToDoWhenAnotherProcessHasTheUdpPort(String transport) throws IOException {
        try (DatagramSocket foreign = new DatagramSocket(RoceEnds.freePort(), InetAddress.getLoopbackAddress());
                VerbsDevice device = open(
                        Map.of("wire", "roce", "transport", transport, "roce-port", "" + foreign.getLocalPort()))) {
            VerbsException refused = assertThrows(VerbsException.class, () -> device.listen(ANYWHERE, 1));
            assertEquals(VerbsErrorCode.ADDRESS_IN_USE, refused.code());
            String said = String.valueOf(refused.getMessage());
            assertTrue(said.endsWith("has this UDP port; " + ADVICE), said);
        }
    }

    /** What needs rights says so, and the rest works. */
    @Test
    void shouldWorkWithoutRights() {
        boolean known =
                ProcFile.lines("/proc/sys/net/ipv4/ip_unprivileged_port_start").contains("1024");
        Assumptions.assumeTrue(
                known
                        && ChildJvm.run(NOBODY, List.of(), RoceObstaclesTest.Nothing.class)
                                        .exitCode()
                                == 0,
                "only root can give privileges up in this way");
        ChildJvm.Outcome child = ChildJvm.run(NOBODY, List.of(), RoceObstaclesTest.class);
        assertEquals(0, child.exitCode(), child::toString);
        assertTrue(child.lines().contains(DONE), child::toString);
        assertTrue(child.lines().stream().anyMatch(line -> line.endsWith(RIGHTS)), child::toString);
    }

    /** A child that does nothing, to see whether it can. */
    static final class Nothing {
        private Nothing() {}

        public static void main(String[] arguments) {
            System.out.println(arguments.length);
        }
    }

    /**
     * The child: connects two devices and reads, then listens where it may not.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        try (RoceEnds ends = new RoceEnds("auto", Map.of()).connect()) {
            ends.active
                    .pair()
                    .postRead(
                            1,
                            ends.active.region,
                            0,
                            RoceEnds.BYTES,
                            ends.passive.region.address(),
                            ends.passive.region.rkey(),
                            SendFlags.SIGNALLED);
            System.out.println(ends.active.next().isSuccess() ? DONE : "the READ has failed");
        }
        try (VerbsDevice device = open(Map.of("wire", "roce", "roce-port", "" + PRIVILEGED));
                Listener listener = device.listen(ANYWHERE, 1)) {
            System.out.println("listens at " + listener.localAddress());
        } catch (VerbsException e) {
            System.out.println(e.getMessage());
        }
        System.exit(0);
    }

    @Test
    void shouldCountWhatTheKernelDropsForWantOfRoom() throws IOException {
        int port = RoceEnds.freePort();
        Map<String, String> options = Map.of(
                "wire", "roce", "progress", "manual", "socket-buffer", "16384", "roce-port", Integer.toString(port));
        try (VerbsDevice device = open(options);
                Listener listener = device.listen(ANYWHERE, 1);
                DatagramSocket foreign = new DatagramSocket()) {
            DatagramPacket packet = new DatagramPacket(
                    new byte[1000], 1000, listener.localAddress().getAddress(), port);
            long startNs = System.nanoTime();
            while (device.counters().getOrDefault("roce.socketDropped", 0L) == 0) {
                for (int i = 0; i < 100; i++) {
                    foreign.send(packet); // nobody receives meanwhile
                }
                int ignored = device.progress(TimeUnit.MILLISECONDS.toNanos(1));
                assertTrue(System.nanoTime() - startNs < RoceEnds.DEADLINE_NS, () -> "" + device.counters());
            }
        }
    }

    /** To a broadcast address, for example. */
    @Test
    void shouldCountWhatTheKernelRefusesToSend() throws Exception {
        Map<String, String> here = Map.of("roce-address", "127.0.0.1");
        try (RoceEnds ends = new RoceEnds("epoll", here);
                UnconnectedQueuePair pair = ends.active.domain.createQueuePair(
                        ends.active.attributes().withDatagrams(KEY).withType(QueuePairType.UNRELIABLE_DATAGRAM));
                AddressHandle everybody = ends.active.domain.createAddressHandle(
                        new InetSocketAddress(InetAddress.getByName("127.255.255.255"), ends.port()))) {
            pair.postSendTo(1, ends.active.region, 0, 8, everybody, 7, KEY, SendFlags.SIGNALLED);
            assertTrue(ends.active.next().isSuccess(), "it has left");
            long startNs = System.nanoTime();
            while (ends.active.counter("roce.socketRefused") == 0) {
                assertTrue(
                        System.nanoTime() - startNs < RoceEnds.DEADLINE_NS, () -> "" + ends.active.device.counters());
                Thread.onSpinWait();
            }
            assertEquals(1, ends.active.counter("roce.socketRefused"));
        }
    }
}
