package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.net.kernel.UdpEnvironment;
import org.softrdma.sim.SoftRdmaProvider;

/** What stands in the way on a machine is said in a sentence, and nothing else is. */
class RoceAdviceTest {
    @TempDir
    private Path root;

    private RoceAdvice advice = RoceAdvice.ofThisMachine();

    @BeforeEach
    void setUp() {
        advice = new RoceAdvice(new UdpEnvironment(root));
    }

    private void write(String file, String text) throws IOException {
        Path at = root.resolve(file);
        Files.createDirectories(at.getParent());
        Files.writeString(at, text);
    }

    private static void assertSays(String part, Optional<String> said) {
        assertTrue(said.orElse("nothing").contains(part), said::toString);
    }

    @Test
    void shouldSayNothingWhereThereIsNothingToSay() throws IOException {
        assertEquals(Optional.empty(), advice.smallBuffer());
        assertEquals(Optional.empty(), advice.takenPort());
        assertEquals(Optional.empty(), advice.card("eth0"));
        write("proc/sys/net/core/rmem_max", "8388608\n");
        assertEquals(Optional.empty(), advice.smallBuffer());
    }

    @Test
    void shouldSayHowToMakeRoomForBursts() throws IOException {
        write("proc/sys/net/core/rmem_max", "212992\n");
        assertSays("net.core.rmem_max=212992", advice.smallBuffer());
        assertSays("sysctl -w net.core.rmem_max=8388608", advice.smallBuffer());
    }

    @Test
    void shouldSayThatThePortIsTakenAtWhateverAddress() throws IOException {
        write("proc/net/udp", """
                  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
                  77: 00000000:12B6 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0
                """);
        write("proc/net/udp6", """
                  sl  local_address                         remote_address                        st tx_queue rx_queue
                """);
        assertEquals(Optional.empty(), advice.takenPort());
        write("proc/net/udp6", """
                  sl  local_address                         remote_address                        st tx_queue rx_queue
                  78: 00000000000000000000000000000000:12B7 00000000000000000000000000000000:0000 07 00000000:00000000
                """);
        assertSays("UDP port 4791 is taken", advice.takenPort());
        assertSays("choose another roce-port", advice.takenPort());
    }

    @Test
    void shouldNameTheCardThatAnswersInItsPlace() throws IOException {
        String attributes = "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/";
        write(attributes + "ndevs/0", "eth0\n");
        write(attributes + "types/0", "IB/RoCE v1\n");
        assertEquals(Optional.empty(), advice.card("eth0"));
        write(attributes + "ndevs/3", "eth0\n");
        write(attributes + "types/3", "RoCE v2\n");
        assertEquals(Optional.empty(), advice.card("eth1"));
        assertSays("the RDMA device mlx5_0 takes packets to UDP port 4791 of eth0", advice.card("eth0"));
        assertSays(
                "choose another roce-port, here and at the peers, or use the provider rdmacore", advice.card("eth0"));
    }

    @Test
    void shouldSayTheSameInTheListOfProviders() {
        String said = new SoftRdmaProvider().usability().toString();
        RoceAdvice here = RoceAdvice.ofThisMachine();
        assertEquals(here.smallBuffer().isPresent(), said.contains("net.core.rmem_max"), said);
    }
}
