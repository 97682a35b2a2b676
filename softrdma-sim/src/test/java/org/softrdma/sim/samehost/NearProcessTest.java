package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.net.kernel.LocalSocket;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.testkit.KeptPorts;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/** A responder in another process: stopped, killed, started again. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class NearProcessTest {
    /** Another user, who may read the files of this test wherever they are. */
    private static final List<String> NOBODY = List.of(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=+dac_read_search",
            "--ambient-caps=+dac_read_search");

    private static final int LENGTH = 4096;
    private static final int READS = 10_000;
    private static final long OLD = 0x0101010101010101L;
    private static final long NEW = 0x0202020202020202L;

    @Test
    void shouldReadFromAServerThatIsStoppedAndFromNoneThatWasKilled() throws Exception {
        Server old = new Server(KeptPorts.next(), 1);
        try (NearClient client = new NearClient(old.at(), LENGTH)) {
            assertEquals(CompletionStatus.SUCCESS, client.read(old.address, old.rkey));
            assertEquals(1, client.near());
            old.signal("STOP");
            for (int i = 1; i < READS; i++) {
                assertEquals(CompletionStatus.SUCCESS, client.read(old.address, old.rkey));
            }
            assertEquals(OLD, client.uniform("while it is stopped"));
            assertEquals(READS, client.near());
            old.signal("CONT");
            assertEquals(READS, old.reads());

            old.close();
            TestDevice.await("the end", () -> client.pair().state() == QueuePairState.ERROR);
            assertEquals(CompletionStatus.FLUSHED, client.read(old.address, old.rkey));
            try (Server born = new Server(old.port, 2)) {
                assertEquals(CompletionStatus.FLUSHED, client.read(old.address, old.rkey), "of the old life");
                client.reconnect();
                assertEquals(CompletionStatus.SUCCESS, client.read(born.address, born.rkey));
                assertEquals(NEW, client.uniform("of the new life"));
                assertEquals(READS + 1L, client.near());
                assertEquals(1, born.reads());
                assertNotEquals(
                        CompletionStatus.SUCCESS, client.read(old.address, old.rkey), "by a key of the old life");
            }
        } finally {
            old.close();
        }
    }

    /** In manual progress the device has its turn when it is polled in vain; until then it has not heard of the end. */
    @Test
    void shouldReadNothingOfAKilledServerEvenIfItHasNotHeardOfItsEnd() throws Exception {
        try (Server server = new Server(0, 1);
                NearClient client = new NearClient(server.at(), LENGTH, Map.of("progress", "manual"))) {
            assertEquals(CompletionStatus.SUCCESS, client.read(server.address, server.rkey));
            assertEquals(1, client.near());
            server.kill();
            assertNotEquals(CompletionStatus.SUCCESS, client.read(server.address, server.rkey));
            assertEquals(1, client.near());
        }
    }

    @Test
    void shouldHearOfAnotherPeerAlthoughItsQueueIsNeverEmpty() throws Exception {
        long fromTheOther = 7;
        QueuePairLimits limits = new QueuePairLimits(4, 4, 1, 1, 0);
        try (Server server = new Server(0, 1);
                TestDevice other = new TestDevice();
                NearClient client = new NearClient(server.at(), LENGTH, Map.of("progress", "manual"))) {
            assertEquals(CompletionStatus.SUCCESS, client.read(server.address, server.rkey));
            CompletableFuture<QueuePair> accepted = CompletableFuture.supplyAsync(() -> {
                ConnectionRequest request = other.request();
                QueuePair made = other.queuePair(request, limits);
                request.accept(ConnectionParameters.ofReads(4));
                return made;
            });
            try (QueuePair receiving = client.connect(other.address())) {
                MemoryRegion into =
                        client.device.guarded(8, AccessFlag.LOCAL_WRITE).region();
                receiving.postReceive(fromTheOther, into, 0, 8);
                client.post(server.address, server.rkey); // one is always left
                MemoryRegion message = other.guarded(8, AccessFlag.LOCAL_WRITE).region();
                accepted.join().postSend(1, message, 0, 8, SendFlags.SIGNALLED);
                TestDevice.await("the other's message", () -> {
                    client.post(server.address, server.rkey);
                    return client.device.take(1).getFirst().wrId() == fromTheOther;
                });
                client.device.take(2);
            }
        }
    }

    /** The responder has not heard of the error, so all that it shows still says that the connection lives. */
    @Test
    void shouldFlushReadsOfAQueuePairInErrorThoughTheServerShowsItsMemory() throws Exception {
        try (Server server = new Server(0, 1);
                NearClient client = new NearClient(server.at(), LENGTH)) {
            assertEquals(CompletionStatus.SUCCESS, client.read(server.address, server.rkey));
            assertEquals(1, client.near());
            server.signal("STOP");
            assertEquals(CompletionStatus.LOCAL_PROTECTION_ERROR, client.fail(server.address, server.rkey));
            assertEquals(CompletionStatus.FLUSHED, client.read(server.address, server.rkey));
            assertEquals(1, client.near());
        }
    }

    /**
     * A server of another user shows nothing, not even to root: its READs go over TCP as ever. How many READs it takes until a
     * server of this user has shown its memory says how many are enough.
     */
    @Test
    void shouldReadByTcpFromAServerOfAnotherUser() throws Exception {
        assumeTrue(LocalSocket.effectiveUser() == 0, "only root can start a process of another user");
        assumeTrue(mayRead(), "another user cannot read the classes of this test");
        int enough = 1;
        try (Server own = new Server(0, 1);
                NearClient client = new NearClient(own.at(), LENGTH)) {
            while (client.near() == 0) {
                assertEquals(CompletionStatus.SUCCESS, client.read(own.address, own.rkey));
                enough++;
            }
        }
        try (Server other = new Server(NOBODY, 0, 1);
                NearClient client = new NearClient(other.at(), LENGTH)) {
            int reads = Math.max(1000, 20 * enough);
            for (int i = 0; i < reads; i++) {
                assertEquals(CompletionStatus.SUCCESS, client.read(other.address, other.rkey));
            }
            assertEquals(OLD, client.uniform("of another user"));
            assertEquals(0, client.near());
            long answered = other.reads();
            while (answered < reads) { // an answer may be here before the engine there has counted it
                answered = other.reads();
            }
            assertEquals(reads, answered);
        }
    }

    private static boolean mayRead() {
        List<String> command = new ArrayList<>(NOBODY);
        command.addAll(List.of("ls", System.getProperty("java.class.path").split(File.pathSeparator, 2)[0]));
        return ChildJvm.succeeds(command);
    }

    /** A child process. */
    private static final class Server implements AutoCloseable {
        private final Process process;
        private final BufferedReader says;
        private final Writer hears;
        private final int port;
        private final long address;
        private final int rkey;

        Server(int wanted, int fill) throws IOException {
            this(List.of(), wanted, fill);
        }

        Server(List<String> before, int wanted, int fill) throws IOException {
            process = NearProcess.start(
                    before,
                    NearServer.class,
                    Integer.toString(wanted),
                    Integer.toString(LENGTH),
                    Integer.toString(fill));
            says = process.inputReader(StandardCharsets.UTF_8);
            hears = process.outputWriter(StandardCharsets.UTF_8);
            String[] words = line().split(" ", 3);
            port = Integer.parseInt(words[0]);
            address = Long.parseLong(words[1]);
            rkey = Integer.parseInt(words[2]);
        }

        private String line() throws IOException {
            String line = says.readLine();
            if (line == null) {
                throw new AssertionError("the server has ended");
            }
            return line;
        }

        InetSocketAddress at() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        }

        long reads() throws IOException {
            hears.write("reads?\n");
            hears.flush();
            return Long.parseLong(line());
        }

        void signal(String name) throws IOException, InterruptedException {
            assertEquals(
                    0,
                    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                            .start()
                            .waitFor());
        }

        @Override
        public void close() {
            kill();
        }

        /** By SIGKILL; when this returns it has ended. */
        void kill() {
            process.destroyForcibly();
            try {
                process.waitFor();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
