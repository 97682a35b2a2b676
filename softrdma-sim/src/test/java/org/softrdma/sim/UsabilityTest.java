package org.softrdma.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.verbs.device.VerbsDevice;

/** What the provider says that it uses is what a device uses. */
@Timeout(2 * 60)
class UsabilityTest {
    /**
     * Some kernels count the memory of a ring as locked memory, which processes without privileges have little of. What a
     * closed ring had is free only some time later, so no limit here is near the memory of one or two.
     */
    @ParameterizedTest
    @ValueSource(ints = {16, 64, 4096}) // less than a trial needs, or a loop; enough for both
    void shouldNameTheTransportThatADeviceGets(int lockedKib) {
        List<String> unprivileged = List.of(
                "setpriv",
                "--bounding-set=-ipc_lock",
                "--inh-caps=-ipc_lock",
                "prlimit",
                "--memlock=" + lockedKib * 1024);
        Assumptions.assumeTrue(ChildJvm.works(unprivileged), "only root can give privileges up in this way");
        ChildJvm.Outcome child = ChildJvm.run(
                unprivileged,
                List.of("-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"),
                SaysAndDoes.class);
        assertEquals(0, child.exitCode(), child::toString);
        assertEquals(child.lines().getFirst(), child.lines().getLast());
    }

    /** The process: what is said, and what is done. */
    static final class SaysAndDoes {
        private SaysAndDoes() {}

        public static void main(String[] arguments) {
            String said = new SoftRdmaProvider().usability().toString();
            System.out.println(said.contains("TCP by io_uring") ? "uring" : "epoll");
            try (VerbsDevice device = new SoftRdmaProvider().open(Map.of())) {
                System.out.println(NothingLeftTest.transport(device));
            }
        }
    }
}
