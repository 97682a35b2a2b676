package org.softrdma.junit.guide;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.junit.FabricTest;
import org.softrdma.junit.NodeName;
import org.softrdma.sim.roce.wire.PacketKind;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.verbs.device.VerbsDevice;

/** The tests of docs/guide/testing.md on the fabric. */
class RowClientTest {
    private static final int PORT = 7471;

    // docs: nodes
    private Fabric fabric;
    private FabricNode server;
    private VerbsDevice serverDevice;
    private VerbsDevice clientDevice;

    @BeforeEach
    void nodes(
            Fabric fabricOfTest,
            @NodeName("server") FabricNode node,
            @NodeName("server") VerbsDevice deviceOfServer,
            @NodeName("client") VerbsDevice deviceOfClient) {
        fabric = fabricOfTest;
        server = node;
        serverDevice = deviceOfServer;
        clientDevice = deviceOfClient;
    }

    private RowServer serve() {
        RowServer rows = new RowServer(serverDevice, new InetSocketAddress(server.address(), PORT), 10, 20, 30);
        server.start("rows", () -> {
            try (rows) {
                rows.serve();
            }
        });
        return rows;
    }

    private RowClient connect(RowServer rows) {
        return new RowClient(clientDevice, rows.address(), fabric.clock()::nanoTime);
    }

    private static void assertFails(String why, RowClient client, int row) {
        assertEquals(why, assertThrows(IOException.class, () -> client.get(row)).getMessage());
    }
    // docs: end

    // docs: lost
    @FabricTest
    void shouldNotWaitForALostServer() throws Exception {
        try (RowClient client = connect(serve())) {
            assertEquals(10, client.get(0));
            server.powerOff();
            assertFails("no answer", client, 1);
        }
    }

    @FabricTest
    void shouldSayThatTheServerDied() throws Exception {
        try (RowClient client = connect(serve())) {
            assertEquals(10, client.get(0));
            server.kill();
            assertFails("FLUSHED", client, 1);
        }
    }
    // docs: end

    /** The three lines of README. */
    @FabricTest
    void shouldAnswerUntilThePowerIsCut() throws Exception {
        try (RowClient client = connect(serve())) {
            // docs: three
            assertEquals(20, client.get(1));
            server.powerOff();
            assertFails("no answer", client, 1);
            // docs: end
        }
    }

    // docs: slow
    static FaultPlan pauseAtTheSecondRead() {
        long ns = TimeUnit.MILLISECONDS.toNanos(1500);
        return FaultPlan.NONE.and(
                new When.OnMessage("client", "server", MessageKind.READ_REQUEST, 2),
                new What.Pause("server", ns, true));
    }

    @FabricTest(faults = "pauseAtTheSecondRead")
    void shouldNotTakeALateAnswerForAnother() throws Exception {
        try (RowClient client = connect(serve())) {
            assertEquals(10, client.get(0));
            assertFails("no answer", client, 1);
            assertEquals(30, client.get(2));
        }
    }
    // docs: end

    // docs: full
    @FabricTest
    void shouldSayThatTheQueueIsFullAndGoOnLater() throws Exception {
        try (RowClient client = connect(serve())) {
            assertEquals(10, client.get(0));
            server.pause(TimeUnit.SECONDS.toNanos(10));
            for (int i = 0; i < RowClient.DEPTH; i++) {
                assertFails("no answer", client, 0);
            }
            assertFails("QUEUE_FULL", client, 0);
            fabric.scheduler().sleep(TimeUnit.SECONDS.toNanos(10));
            assertEquals(20, client.get(1));
        }
    }
    // docs: end

    // docs: wires
    static FaultPlan loseTheFirstAnswer() {
        return FaultPlan.NONE.and(new When.OnPacket("server", "client", PacketKind.READ_RESPONSE, 1), new What.Lose());
    }

    @FabricTest(
            wires = {"iwarp", "roce"},
            faults = "loseTheFirstAnswer")
    void shouldReadOnEitherWire() throws Exception {
        try (RowClient client = connect(serve())) {
            assertEquals(10, client.get(0));
            assertEquals(20, client.get(1));
        }
    }
    // docs: end

    // docs: revoked
    @FabricTest
    void shouldSayThatTheKeyWasRevoked() throws Exception {
        RowServer rows = serve();
        try (RowClient client = connect(rows)) {
            assertEquals(10, client.get(0));
            rows.revoke();
            assertFails("REMOTE_ACCESS_ERROR", client, 1);
        }
    }
    // docs: end
}
