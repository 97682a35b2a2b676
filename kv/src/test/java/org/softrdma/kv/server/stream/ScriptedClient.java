package org.softrdma.kv.server.stream;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;

/** Notes what happens on a channel, and answers as a test says. */
final class ScriptedClient implements ClientHandler {
    private final ClientChannel channel;
    private final List<ByteBuffer> unused = new ArrayList<>();

    /** What has happened, in order. */
    final List<String> events = new ArrayList<>();

    /** Uses input up as soon as it comes. */
    boolean usesUp = true;

    /** What it does with input, before it uses it up. */
    Runnable onInput = () -> {};

    /** Thrown when the client has connected. */
    @Nullable
    Error whenOpened;

    /** Throws when it is told of the end. */
    boolean failsInTheEnd;

    /** What a test has found wrong in an event, where the channel takes it for a fault of the handler's. */
    @Nullable
    AssertionError found;

    ScriptedClient(ClientChannel channel) {
        this.channel = channel;
    }

    /** Puts out a buffer. */
    void write(String text) {
        channel.buffer(1 << 16).put(text.getBytes(StandardCharsets.ISO_8859_1));
        channel.sendBuffer();
    }

    /** What came and is not used up. */
    List<String> unused() {
        return unused.stream()
                .map(bytes ->
                        StandardCharsets.ISO_8859_1.decode(bytes.duplicate()).toString())
                .toList();
    }

    @Override
    public void opened() {
        events.add("opened");
        Error thrown = whenOpened;
        if (thrown != null) {
            throw thrown;
        }
    }

    @Override
    public void received(ByteBuffer bytes) {
        events.add("received " + bytes.remaining());
        onInput.run();
        if (usesUp) {
            channel.releaseInput();
        } else {
            unused.add(bytes);
        }
    }

    @Override
    public void receivedAll() {
        events.add("all");
        channel.flush();
    }

    @Override
    public void unsent() {
        events.add("unsent " + channel.pendingBytes() + " " + channel.isSent());
    }

    @Override
    public void inputEnded() {
        events.add("input ended");
    }

    @Override
    public void writable() {
        events.add("writable");
    }

    @Override
    public void failed(Throwable cause) {
        events.add("failed: " + cause.getMessage());
        if (cause instanceof AssertionError wrong) {
            found = wrong;
        }
    }

    @Override
    public void ended() {
        events.add("ended");
        if (failsInTheEnd) {
            throw new OutOfMemoryError("in the end");
        }
    }

    @Override
    public void release() {
        events.add("release");
    }
}
