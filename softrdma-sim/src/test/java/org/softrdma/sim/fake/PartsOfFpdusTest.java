package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;

/** What a connection keeps of an FPDU that has come or gone in part: about its bytes, and only as long as there are some. */
class PartsOfFpdusTest {
    private static final int CONNECTIONS = 64;
    private static final int LENGTH = 60_000;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(1, 1, 1, 1, 0);

    @ParameterizedTest
    @ValueSource(ints = {100, 300, 5000})
    void shouldHoldAboutAsMuchAsHasCome(int part) throws Exception {
        try (FakeDevice device = new FakeDevice("crc", "on")) {
            byte[] fpdu = Frames.fpdu(Frames.send(1, TestBytes.pattern(1, LENGTH)), true);
            List<FakeSocket> sockets = new ArrayList<>();
            List<QueuePair> pairs = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                sockets.add(device.socket());
                pairs.add(device.connect(sockets.get(i), LIMITS, 1));
            }
            long before = device.nativeMemory().allocatedBytes();
            for (FakeSocket socket : sockets) {
                socket.give(TestBytes.slice(fpdu, 0, part));
            }
            device.run();
            long held = device.nativeMemory().allocatedBytes() - before;
            assertTrue(held <= CONNECTIONS * Math.max(256L, 2L * part), () -> held + " bytes for parts of " + part);
            sockets.forEach(FakeSocket::giveReset);
            device.drain();
            pairs.forEach(QueuePair::close);
        }
    }

    /** One connection after the other receives an FPDU in two parts: what one has kept serves the next. */
    @Test
    void shouldGiveBackWhatItKeptOfWhatCame() {
        try (FakeDevice device = new FakeDevice("crc", "on")) {
            MemoryRegion memory = device.region(3, LENGTH, AccessFlag.RECEIVE_SINK);
            byte[] fpdu = Frames.fpdu(Frames.send(1, TestBytes.pattern(1, LENGTH)), true);
            List<Play> plays = new ArrayList<>();
            long before = device.nativeMemory().allocatedBytes();
            for (int i = 0; i < CONNECTIONS; i++) {
                Play play = new Play(device);
                plays.add(play);
                play.pair.postReceive(1, memory, 0, LENGTH);
                play.socket.give(TestBytes.slice(fpdu, 0, LENGTH / 2));
                device.run();
                play.socket.give(TestBytes.slice(fpdu, LENGTH / 2, fpdu.length));
                assertEquals(List.of(CompletionStatus.SUCCESS), device.drain());
            }
            requireOneBuffer(device, before);
            plays.forEach(Play::end);
        }
    }

    /** One connection after the other sends a READ response of which the kernel takes half at first. */
    @Test
    void shouldGiveBackWhatItKeptOfWhatWent() {
        try (FakeDevice device = new FakeDevice("crc", "on")) {
            MemoryRegion memory = device.region(3, LENGTH, AccessFlag.REMOTE_READ);
            byte[] request = Frames.fpdu(Frames.readRequest(1, 5, 0, LENGTH, memory.rkey(), memory.address()), true);
            byte[] response =
                    Frames.fpdu(Frames.tagged(Frames.READ_RESPONSE, true, 5, 0, TestBytes.pattern(3, LENGTH)), true);
            List<Play> plays = new ArrayList<>();
            long before = device.nativeMemory().allocatedBytes();
            for (int i = 0; i < CONNECTIONS; i++) {
                Play play = new Play(device);
                plays.add(play);
                play.socket.takeOnly(LENGTH / 2).give(request);
                device.run();
                play.socket.takeAll();
                device.run();
                assertEquals(TestBytes.hex(response), TestBytes.hex(FakeDevice.stream(play.socket)));
            }
            requireOneBuffer(device, before);
            plays.forEach(Play::end);
        }
    }

    private static void requireOneBuffer(FakeDevice device, long before) {
        long allocated = device.nativeMemory().allocatedBytes() - before;
        assertTrue(allocated <= 2L * LENGTH, () -> CONNECTIONS + " connections allocated " + allocated + " bytes");
    }

    /** A connection. */
    private static final class Play {
        private final FakeDevice device;
        private final FakeSocket socket;
        private final QueuePair pair;

        Play(FakeDevice device) {
            this.device = device;
            socket = device.socket();
            pair = device.connect(socket, LIMITS, 1);
        }

        void end() {
            socket.giveReset();
            device.drain();
            pair.close();
        }
    }
}
