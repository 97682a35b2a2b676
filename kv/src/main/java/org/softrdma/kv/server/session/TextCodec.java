package org.softrdma.kv.server.session;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextDecoder;

/** The text protocol, classic and meta. Owned by the thread of the connection. */
final class TextCodec implements ProtocolCodec {
    private final Conversation conversation;
    private final TextDecoder decoder;
    private final Commands commands;

    TextCodec(ServerParts server, Conversation conversation) {
        this.conversation = conversation;
        this.decoder = new TextDecoder();
        this.commands = new Commands(server, conversation, decoder);
    }

    @Override
    public Step next(ByteBuffer input) {
        return switch (decoder.next(input)) {
            case NEED_INPUT -> {
                if (decoder.expectsValue()) {
                    commands.awaitValue();
                }
                yield Step.NEED_INPUT;
            }
            case REQUEST -> {
                CommandLog log = conversation.log();
                if (log != null) {
                    log.asked(decoder.request());
                }
                commands.execute(decoder.request());
                yield Step.REQUEST;
            }
            case VALUE -> {
                commands.endValue(decoder.isValueTerminated());
                yield Step.OTHER;
            }
            case LINE_TOO_LONG -> {
                conversation.closeAfterError();
                yield Step.OTHER;
            }
        };
    }

    @Override
    public void expectValue(@Nullable Consumer<ByteBuffer> taker, int length) {
        decoder.expectValue(taker, length);
    }

    @Override
    public boolean expectsValue() {
        return decoder.expectsValue();
    }

    @Override
    public boolean isWithinRequest() {
        return decoder.isWithinRequest();
    }

    @Override
    public void release() {
        commands.release();
    }
}
