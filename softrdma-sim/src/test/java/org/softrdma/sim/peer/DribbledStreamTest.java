package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.CompletionStatus;

/** A valid stream that comes one byte at a time, over real sockets; {@code SplitStreamTest} has every position. */
class DribbledStreamTest {
    @ParameterizedTest
    @CsvSource({"epoll,false", "epoll,true", "uring,false", "uring,true", "nio,false", "nio,true"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldTakeAStreamByteByByte(String transport, boolean crc) throws Exception {
        try (Scene scene = new Scene(transport, crc, 2)) {
            scene.bystander.begin();
            scene.postRead(1, Scene.READ_WR, 40);
            byte[] data = TestBytes.pattern(50, 100);
            byte[][] segments = {
                Frames.untagged(Frames.SEND, false, 0, 1, 0, TestBytes.slice(data, 0, 33)),
                Frames.untagged(Frames.SEND, true, 0, 1, 33, TestBytes.slice(data, 33, 100)),
                Frames.tagged(Frames.WRITE, true, scene.zeroBased.region().rkey(), 10, TestBytes.slice(data, 0, 77)),
                Frames.readRequest(1, 11, 12, 77, scene.zeroBased.region().rkey(), 10),
                Frames.tagged(
                        Frames.READ_RESPONSE,
                        false,
                        scene.sink.region().lkey(),
                        scene.sink.region().address(),
                        TestBytes.slice(data, 0, 13)),
                Frames.tagged(
                        Frames.READ_RESPONSE,
                        true,
                        scene.sink.region().lkey(),
                        scene.sink.region().address() + 13,
                        TestBytes.slice(data, 13, 40)),
                Frames.untagged(Frames.SEND_SOLICITED, true, 0, 2, 0)
            };
            for (byte[] segment : segments) {
                for (byte b : Frames.fpdu(segment, crc)) {
                    scene.peer.sendBytes(new byte[] {b});
                }
            }
            assertEquals(
                    List.of(
                            new TestDevice.Completion(Scene.FIRST_RECV_WR, CompletionStatus.SUCCESS, 0, 100),
                            new TestDevice.Completion(Scene.READ_WR, CompletionStatus.SUCCESS, 0, 40),
                            new TestDevice.Completion(Scene.FIRST_RECV_WR + 1, CompletionStatus.SUCCESS, 0, 0)),
                    scene.server.take(3));
            scene.peer.expect(
                    Frames.tagged(Frames.READ_RESPONSE, true, 11, 12, TestBytes.slice(data, 0, 77)), "READ response");
            assertArrayEquals(data, scene.received.bytes(0, 100));
            assertArrayEquals(TestBytes.slice(data, 0, 40), scene.sink.bytes(0, 40));
            assertArrayEquals(TestBytes.slice(data, 0, 77), scene.zeroBased.bytes(10, 77));
            scene.expectOthersUntouched();
            scene.bystander.finish();
        }
    }
}
