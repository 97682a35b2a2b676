package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;

/**
 * The sink of a READ is the application's memory: others write there while the READ is outstanding, and what arrives instead of
 * the READ's response has no business there.
 */
class ReadSinkTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 5_040L);
    private static final QueuePairLimits LIMITS = new QueuePairLimits(4, 4, 1, 1, 0);
    private static final byte SCRIBBLE = 0x5C;

    /** Whatever writes to a sink makes the content of that sink undefined, and nothing else. */
    @ParameterizedTest
    @CsvSource({"4096,9000", "8192,8192", "8192,200", "60000,60000", "100000,60000"})
    void shouldReceiveWhatWasSentWhileOthersWriteToTheSink(int read, int sent) {
        byte[] data = TestBytes.pattern(4, read);
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            MemoryRegion sink = device.region(2, read, AccessFlag.READ_SINK);
            MemoryRegion received = device.region(3, 2 * sent, AccessFlag.RECEIVE_SINK);
            byte[] first = Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false);
            byte[] stream = TestBytes.concat(send(1, sent), response(sink, data), send(2, sent));
            Random random = new Random(SEED);
            for (int round = 0; round < 60; round++) {
                FakeSocket socket = device.socket();
                try (QueuePair pair = device.connect(socket, LIMITS, 4)) {
                    pair.postReceive(1, received, 0, sent);
                    pair.postReceive(2, received, sent, sent);
                    pair.postRead(3, sink, 0, read, 1, 2, SendFlags.SIGNALLED);
                    socket.give(first);
                    device.run();

                    socket.meanwhile(() -> sink.memory().fill(SCRIBBLE));
                    // At first all at once, then in two and three pieces.
                    int middle = round == 0 ? 0 : random.nextInt(stream.length);
                    int later = round < 30 ? stream.length : middle + random.nextInt(stream.length - middle);
                    socket.give(TestBytes.slice(stream, 0, middle))
                            .give(TestBytes.slice(stream, middle, later))
                            .give(TestBytes.slice(stream, later, stream.length));

                    String how = "round " + round + ", seed " + SEED + " (-Dsoftrdma.test.seed)";
                    CompletionStatus good = CompletionStatus.SUCCESS;
                    assertEquals(List.of(good, good, good), device.drain(), how);
                    byte[] message = TestBytes.pattern(1, sent);
                    assertArrayEquals(TestBytes.concat(message, message), bytes(received), how);
                } finally {
                    socket.meanwhile(() -> {}).giveReset();
                    device.drain();
                }
            }
            assertEquals(0, device.counter("protocolErrors"));
        }
    }

    /** A READ that is refused has not touched its sink, however much came before the refusal. */
    @ParameterizedTest
    @ValueSource(ints = {0, 90, 200, 300, 5000})
    void shouldLeaveTheSinkOfARefusedReadAsItWas(int sent) {
        int read = 8192;
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            MemoryRegion sink = device.region(2, read, AccessFlag.READ_SINK);
            MemoryRegion received = device.region(3, 5000, AccessFlag.RECEIVE_SINK);
            FakeSocket socket = device.socket();
            try (QueuePair pair = device.connect(socket, LIMITS, 4)) {
                pair.postReceive(1, received, 0, 5000);
                pair.postRead(3, sink, 0, read, 1, 2, SendFlags.SIGNALLED);
                socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
                device.run();

                byte[] about = Frames.readRequest(1, sink.lkey(), sink.address(), read, 2, 1);
                socket.give(TestBytes.concat(
                        send(1, sent), Frames.fpdu(Frames.terminate(0x0101, about, true, true), false)));

                assertEquals(List.of(CompletionStatus.SUCCESS, CompletionStatus.REMOTE_ACCESS_ERROR), device.drain());
                assertArrayEquals(TestBytes.pattern(2, read), bytes(sink));
            } finally {
                socket.giveReset();
                device.drain();
            }
        }
    }

    private static byte[] send(int msn, int length) {
        return Frames.fpdu(Frames.send(msn, TestBytes.pattern(1, length)), false);
    }

    /** The segments of a READ response. */
    private static byte[] response(MemoryRegion sink, byte[] data) {
        byte[] stream = new byte[0];
        for (int at = 0; at < data.length; ) {
            int end = Math.min(data.length, at + 64_748);
            byte[] segment = Frames.tagged(
                    Frames.READ_RESPONSE,
                    end == data.length,
                    sink.lkey(),
                    sink.address() + at,
                    TestBytes.slice(data, at, end));
            stream = TestBytes.concat(stream, Frames.fpdu(segment, false));
            at = end;
        }
        return stream;
    }

    private static byte[] bytes(MemoryRegion region) {
        return region.memory().toArray(ValueLayout.JAVA_BYTE);
    }
}
