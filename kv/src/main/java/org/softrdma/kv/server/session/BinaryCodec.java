package org.softrdma.kv.server.session;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.binary.BinaryDecoder;

/** The binary protocol. Owned by the thread of the connection. */
final class BinaryCodec implements ProtocolCodec {
    private final Conversation conversation;
    private final BinaryDecoder decoder;
    private final BinaryCommands commands;

    BinaryCodec(ServerParts server, Conversation conversation) {
        this.conversation = conversation;
        this.decoder = new BinaryDecoder();
        this.commands = new BinaryCommands(server, conversation, decoder.request());
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
                commands.execute();
                yield Step.REQUEST;
            }
            case VALUE -> {
                commands.endValue();
                yield Step.OTHER;
            }
            case NO_FRAME -> {
                conversation.closeAfterOutput();
                yield Step.OTHER;
            }
        };
    }

    /** The decoder knows the length itself, also where it is beyond that of any item. */
    @Override
    public void expectValue(@Nullable Consumer<ByteBuffer> taker, int length) {
        decoder.expectValue(taker);
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
