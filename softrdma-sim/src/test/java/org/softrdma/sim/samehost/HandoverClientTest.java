package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.net.kernel.Descriptor;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.sim.memory.KeyScrambler;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.peer.TestDevice;

/** What a requester takes from a responder that means harm. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class HandoverClientTest {
    private static final String STRANGE = "softrdma strange file";
    private static final TcpEnds ENDS = new TcpEnds(0, 1, 2, 3, 4, 5);
    /** Nobody listens there by TCP; only the name of the Unix socket follows from it. */
    private static final int PORT = 1;

    private final InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT);
    private final PeerMappings mappings = new PeerMappings();
    private RawLocalSocket listening;
    private SealedMemory file;
    private PeerMemory peer;

    @BeforeEach
    void open() throws IOException {
        listening = RawLocalSocket.listen(HandoverServer.name(address));
        file = SealedMemory.create(STRANGE, SharedFiles.DIRECTORY_BYTES);
        Quiescence.Epoch epoch = new Quiescence().newEpoch();
        peer = new PeerMemory(new MemoryOperations(), new ReadCounts(), epoch, mappings, asked -> {});
    }

    @AfterEach
    void close() {
        peer.close();
        file.close();
        listening.close();
    }

    /** An answer and what comes with it. */
    private static final class Answer {
        private final byte[] message;
        private final int[] files;

        Answer(byte[] message, int... files) {
            this.message = message;
            this.files = files;
        }
    }

    private static byte[] message(int kind, int seen) {
        return HandoverMessage.bytes(HandoverMessage.write(kind).putInt(seen));
    }

    /** Goes to a responder that gives these answers and no more. */
    private void take(Answer... answers) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread responder = Thread.ofPlatform().start(() -> {
            try (RawLocalSocket socket = listening.accept()) {
                for (Answer answer : answers) {
                    byte[] ignored = socket.receive();
                    socket.send(answer.message, answer.files);
                }
            } catch (IOException | RuntimeException | Error e) {
                failure.set(e);
            }
        });
        assertThrows(IOException.class, () -> new HandoverClient(TestDevice.DEADLINE_NS).take(peer, ENDS, address));
        responder.join();
        if (failure.get() != null) {
            throw new AssertionError("the responder failed", failure.get());
        }
    }

    private Answer welcome() {
        return new Answer(
                HandoverMessage.bytes(HandoverMessage.welcome(7, new int[KeyScrambler.SECRETS])), file.descriptor());
    }

    /** Whatever comes with a message, and whether or not anybody expects it there. */
    @Test
    void shouldKeepNoDescriptorThatComesWithAMessage() throws Exception {
        int one = file.descriptor();
        for (int[] files : new int[][] {{one}, {one, one}, {one, one, one, one}}) {
            take(new Answer(HandoverMessage.empty(), files));
            take(new Answer(new byte[1], files));
            take(new Answer(message(HandoverMessage.END, 0), files));
            take(welcome(), new Answer(HandoverMessage.empty(), files));
            take(welcome(), new Answer(message(HandoverMessage.END, 0), files));
            take(welcome(), new Answer(message(HandoverMessage.CHUNK, -1), files));
            take(welcome(), new Answer(message(HandoverMessage.MEMORY, -1), files));
            take(welcome(), new Answer(message(HandoverMessage.WELCOME, 0), files));
        }
        take(new Answer(welcome().message, one, one));
        assertEquals(1, Descriptors.open(STRANGE), "all but this test's own");
    }

    /** Touching them is SIGBUS where the machine has no huge pages. */
    @Test
    void shouldMapNothingInHugePages() throws Exception {
        int huge = Descriptors.inHugePages();
        assumeTrue(huge >= 0, "this kernel has no memory in huge pages");
        byte[] chunk = HandoverMessage.bytes(
                HandoverMessage.write(HandoverMessage.CHUNK).putInt(1).putInt(0));
        ByteBuffer memory = HandoverMessage.write(HandoverMessage.MEMORY)
                .putInt(1)
                .putInt(0)
                .putLong(4096);
        take(new Answer(welcome().message, huge));
        take(welcome(), new Answer(message(HandoverMessage.LIST, 0), huge));
        take(welcome(), new Answer(chunk, huge));
        take(welcome(), new Answer(HandoverMessage.bytes(memory), huge));
        Descriptor.close(huge);
        assertFalse(peer.covers(1, 0, 1));
        assertFalse(peer.read(ReadingThread.POSTING, 1, 0, 0, 1));
    }
}
