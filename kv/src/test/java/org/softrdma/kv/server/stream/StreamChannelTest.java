package org.softrdma.kv.server.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.host.InputBudget;

class StreamChannelTest {
    private static final long BUFFER_BYTES = 8 << 20;
    private static final int INPUT = 16 * 1024;

    private final UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(true);
    private final InputBudget budget = new InputBudget(BUFFER_BYTES);
    private final LoopBuffers buffers = new LoopBuffers(memory, budget, BUFFER_BYTES);
    private final ScriptedLoop loop = new ScriptedLoop();
    private final ScriptedSocket socket = loop.socket();
    private final List<ScriptedClient> clients = new ArrayList<>();
    private final List<StreamChannel> gone = new ArrayList<>();
    private final StreamChannel channel = new StreamChannel(
            loop,
            buffers,
            made -> {
                ScriptedClient client = new ScriptedClient(made);
                clients.add(client);
                return client;
            },
            gone::add);
    private final ScriptedClient client = clients.getFirst();

    @BeforeEach
    void connect() throws IOException {
        channel.adopt(() -> {}, null);
    }

    @AfterEach
    void everythingIsGivenBack() {
        channel.close();
        if (client.found != null) {
            throw client.found;
        }
        assertEquals(1, turnsUntilGone());
        assertEquals(1, client.events.stream().filter("release"::equals).count());
        assertEquals(0, budget.waiting());
        buffers.close();
        assertEquals(0, memory.metric().usedDirectMemory());
    }

    private int turnsUntilGone() {
        String ignored = loop.turn(false);
        return gone.size();
    }

    private void answers(String text) {
        client.onInput = () -> client.write(text);
    }

    @Test
    void shouldSendAtTheEndOfTheTurn() {
        answers("answer");
        client.onInput = () -> {
            client.write("answer");
            channel.flush();
            assertTrue(channel.isSent(), "it goes with this turn");
            assertEquals(6, channel.pendingBytes());
        };
        socket.comes("request");
        assertEquals("later, ahead true, end of turn", loop.turn(true));
        assertEquals("answer", socket.output());
        assertEquals(0, channel.pendingBytes());
        assertEquals(List.of("opened", "received 7", "all"), client.events);
    }

    @Test
    void shouldUseBuffersAgain() {
        answers("answer");
        for (int i = 0; i < 10; i++) {
            socket.comes("request");
            assertEquals("later, end of turn", loop.turn(true).replace("ahead true, ", ""));
        }
        assertEquals("answer".repeat(10), socket.output());
        assertEquals(INPUT + (1 << 16), memory.metric().usedDirectMemory());
    }

    @Test
    void shouldTellWhatTheTurnDidNotTake() {
        List<String> sent = new ArrayList<>();
        answers("answer");
        socket.room = 4;
        socket.comes("request");
        assertEquals("ahead true, later, end of turn, await room", loop.turn(true));
        assertEquals(List.of("opened", "received 7", "all", "unsent 2 false"), client.events);
        channel.whenSent(() -> sent.add("done"));
        channel.flush();
        assertEquals("answ", socket.output(), "there is no room yet");
        assertEquals(List.of(), sent);
        socket.room = 100;
        assertEquals("later, end of turn", loop.turn(true).replace("ahead true, ", ""));
        assertEquals("answer", socket.output());
        assertEquals(List.of("done"), sent);
        assertTrue(channel.isSent());
    }

    /** While memory is short, what is not sent is to be accounted for. */
    @Test
    void shouldSendNowIfThatIsWanted() {
        client.onInput = () -> {
            client.write("first ");
            channel.flush();
            socket.room = 8;
            client.write("second");
            channel.flushNow();
            assertEquals("first se", socket.output());
            assertFalse(channel.isSent());
            assertEquals(4, channel.pendingBytes());
        };
        socket.comes("request");
        assertEquals("later, gather, await room, ahead true, end of turn", loop.turn(true));
        socket.room = 100;
        String ignored = loop.turn(true);
        assertEquals("first second", socket.output());
    }

    @Test
    void shouldSendMuchAtOnce() {
        String much = "x".repeat(1 << 16);
        client.onInput = () -> {
            client.write(much);
            client.write("y");
            channel.flush();
            assertTrue(channel.isSent());
            assertEquals(much + "y", socket.output());
        };
        socket.comes("request");
        assertEquals("gather, ahead true", loop.turn(true));
    }

    /** Nobody accounts for what goes with the turn, so it is little. */
    @Test
    void shouldNotCountMuchAsSentThatIsAddedToATurn() {
        client.onInput = () -> {
            client.write("x");
            channel.flush();
            assertTrue(channel.isSent());
            client.write("y".repeat(1 << 16));
            channel.flush();
            assertFalse(channel.isSent());
        };
        socket.comes("request");
        assertEquals("later, ahead true, end of turn, gather", loop.turn(true));
        assertEquals("x" + "y".repeat(1 << 16), socket.output());
        assertTrue(channel.isSent());
    }

    @Test
    void shouldStopAtTheHighMarkAndGoOnAtTheLowOne() {
        socket.room = 0;
        client.onInput = () -> {
            while (channel.isWritable()) {
                client.write("x".repeat(1 << 16));
            }
        };
        socket.comes("request");
        assertEquals("ahead true, gather, await room", loop.turn(true));
        assertEquals((1 << 20) + (1 << 16), channel.pendingBytes());
        socket.room = 1 << 19;
        String ignored = loop.turn(true);
        assertFalse(client.events.contains("writable"));
        socket.room = 1 << 20;
        ignored = loop.turn(true);
        assertTrue(client.events.contains("writable"));
        assertEquals((1 << 20) + (1 << 16), socket.output().length());
    }

    @Test
    void shouldSendBytesFromWhereTheyAreAndSayWhenTheyAreSent() {
        ByteBuffer value = ByteBuffer.allocateDirect(5)
                .put("value".getBytes(StandardCharsets.US_ASCII))
                .flip();
        List<String> done = new ArrayList<>();
        client.onInput = () -> {
            client.write("line ");
            channel.send(value, () -> done.add(socket.output()));
            client.write(" end");
        };
        socket.room = 7;
        socket.comes("request");
        String ignored = loop.turn(true);
        assertEquals(List.of(), done);
        socket.room = 100;
        ignored = loop.turn(true);
        assertEquals("line value end", socket.output());
        assertEquals(List.of("line value end"), done);
    }

    @Test
    void shouldSayThatBytesAreDoneWithWhenItIsClosed() {
        List<String> done = new ArrayList<>();
        ByteBuffer value = ByteBuffer.allocateDirect(5)
                .put("value".getBytes(StandardCharsets.US_ASCII))
                .flip();
        client.onInput = () -> {
            channel.send(value, () -> {
                value.put(0, (byte) '?'); // whoever is done with it may change it
                done.add("first");
            });
            channel.whenSent(() -> done.add("all"));
            channel.flush();
            channel.close();
            channel.send(ByteBuffer.allocateDirect(5), () -> done.add("second"));
            client.write("third");
            assertEquals(-1, channel.pendingBytes());
        };
        socket.comes("request");
        socket.comes("another");
        assertEquals("later, close, end of turn", loop.turn(true));
        assertEquals("value", socket.output());
        assertEquals(List.of("first", "all", "second"), done);
        assertEquals(List.of("opened", "received 7", "ended", "release"), client.events);
    }

    @Test
    void shouldKeepInputThatIsNotUsedUp() {
        client.usesUp = false;
        socket.comes("first");
        String ignored = loop.turn(false);
        socket.comes("second");
        ignored = loop.turn(false);
        client.usesUp = true;
        client.onInput = () -> {
            assertEquals(List.of("first", "second"), client.unused());
            channel.releaseInput();
            channel.releaseInput();
        };
        socket.comes("third");
        ignored = loop.turn(false);
        assertEquals(INPUT, memory.metric().usedDirectMemory(), "the two that were kept are given back");
        assertThrows(IllegalStateException.class, channel::releaseInput);
    }

    @Test
    void shouldGiveBackInputThatAFailedHandlerKeeps() {
        client.usesUp = false;
        client.onInput = () -> {
            throw new OutOfMemoryError("none left");
        };
        socket.comes("first");
        assertEquals("close", loop.turn(false));
        assertEquals(List.of("opened", "received 5", "failed: none left", "ended", "release"), client.events);
    }

    @Test
    void shouldReceiveIntoSmallBuffersWhileInputWaits() {
        client.usesUp = false;
        for (int i = 0; !budget.isShort(); i++) {
            assertTrue(i < BUFFER_BYTES / INPUT);
            socket.comes("x");
            String ignored = loop.turn(false);
        }
        client.events.clear();
        socket.comes("y".repeat(INPUT));
        String ignored = loop.turn(false);
        assertEquals(List.of("received 4096", "received 4096", "received 4096", "received 4096", "all"), client.events);
        client.usesUp = true;
        while (budget.waiting() > 0) {
            channel.releaseInput();
        }
        client.events.clear();
        socket.comes("z".repeat(INPUT));
        ignored = loop.turn(false);
        assertEquals(List.of("received 16384", "all"), client.events);
    }

    @Test
    void shouldLeaveInputAloneWhileItIsNotWanted() {
        String ignored = loop.turn(true);
        channel.reading(false);
        channel.reading(false);
        socket.comes("request");
        assertEquals("", loop.turn(true));
        assertEquals(List.of("opened"), client.events);
        channel.reading(true);
        ignored = loop.turn(true);
        assertEquals(List.of("opened", "received 7", "all"), client.events);
    }

    @Test
    void shouldGiveOthersATurnAndSayThatMuchComes() {
        socket.comes("x".repeat(20 * INPUT));
        assertEquals("ahead false, rearm", loop.turn(true));
        assertEquals(18, client.events.size(), "opened, 16 receives, all");
        assertEquals("ahead false", loop.turn(true));
    }

    @Test
    void shouldTellTheEndOfTheInputOnceAndSendOn() {
        answers("answer");
        socket.comes("request");
        socket.ends();
        assertEquals(
                "pause, later, end of turn", loop.turn(true), "some sockets tell of the end until they are paused");
        int receives = socket.idleReceives;
        channel.reading(false);
        channel.reading(true);
        assertFalse(socket.calls.contains("rearm"), "nothing comes any more");
        assertEquals("", loop.turn(true));
        assertEquals(receives, socket.idleReceives);
        assertEquals(List.of("opened", "received 7", "input ended", "all"), client.events);
        assertEquals("answer", socket.output());
    }

    @Test
    void shouldEndWhenTheConnectionBreaks() {
        String ignored = loop.turn(true);
        socket.breaks();
        assertEquals("close", loop.turn(false));
        assertEquals(List.of("opened", "failed: broken", "ended", "release"), client.events);
    }

    @Test
    void shouldEndWhenTheConnectionBreaksAtTheEndOfTheTurn() {
        answers("answer");
        socket.comes("request");
        socket.breaksLater();
        assertEquals("ahead true, later, end of turn, close", loop.turn(true));
        assertEquals(List.of("opened", "received 7", "all", "failed: broken later", "ended", "release"), client.events);
    }

    @Test
    void shouldEndWhenTheHandlerFailsAtOnce() {
        client.whenOpened = new OutOfMemoryError("none left");
        assertEquals("close", loop.turn(true));
        assertEquals(List.of("opened", "failed: none left", "ended", "release"), client.events);
    }

    /** Each of them is told, and what is held is given back. */
    @Test
    void shouldEndWhateverFailsOnTheWay() {
        List<String> done = new ArrayList<>();
        client.onInput = () -> {
            client.write("answer");
            channel.send(ByteBuffer.allocateDirect(5), () -> {
                throw new OutOfMemoryError("in the first");
            });
            channel.send(ByteBuffer.allocateDirect(5), () -> done.add("second"));
            throw new OutOfMemoryError("none left");
        };
        client.failsInTheEnd = true;
        socket.comes("request");
        assertThrows(OutOfMemoryError.class, () -> loop.turn(true));
        String ignored = loop.turn(false);
        assertEquals(List.of("second"), done);
        assertEquals(List.of("opened", "received 7", "failed: none left", "ended", "release"), client.events);
    }

    @Test
    void shouldDropABufferThatIsNotSent() {
        ByteBuffer buffer = channel.buffer(100);
        assertEquals(100, buffer.remaining());
        assertThrows(IllegalStateException.class, () -> channel.buffer(100));
        channel.dropBuffer();
        assertThrows(IllegalStateException.class, channel::sendBuffer);
        assertTrue(channel.isSent());
    }
}
