package org.softrdma.kv.server.session;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.binary.FrameDescriptor;
import org.softrdma.kv.memcached.TextProtocol;

/** Detects the protocol from the first byte of a connection. */
final class ProtocolDetector implements ProtocolCodec {
    private final ServerParts server;
    private final Conversation conversation;

    ProtocolDetector(ServerParts server, Conversation conversation) {
        this.server = server;
        this.conversation = conversation;
    }

    @Override
    public Step next(ByteBuffer input) {
        if (!input.hasRemaining()) {
            return Step.NEED_INPUT;
        }
        if (input.get(input.position()) == FrameDescriptor.REQUEST_MAGIC) {
            // Refuses by itself where it is switched off: once it knows which request it answers.
            return begin(new BinaryCodec(server, conversation), input);
        }
        if (server.service().settings().rules().protocol() != ClientRules.Protocol.BINARY) {
            return begin(new TextCodec(server, conversation), input);
        }
        conversation.reply(TextProtocol.TEXT_REFUSED);
        conversation.closeAfterOutput();
        return Step.OTHER;
    }

    private Step begin(ProtocolCodec codec, ByteBuffer input) {
        conversation.speak(codec);
        return codec.next(input);
    }

    @Override
    public void expectValue(@Nullable Consumer<ByteBuffer> taker, int length) {
        throw new IllegalStateException("a value of no request");
    }

    @Override
    public boolean expectsValue() {
        return false;
    }

    @Override
    public boolean isWithinRequest() {
        return false;
    }

    @Override
    public void release() {
        // it holds nothing
    }
}
