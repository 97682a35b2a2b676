package org.softrdma.kv.server.session;

import java.net.SocketAddress;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.binary.AnswerFrame;
import org.softrdma.kv.binary.BinaryRequest;
import org.softrdma.kv.binary.FrameDescriptor;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.server.watch.CloseReason;

/**
 * What one client asks and is told, in memcached's form, for its {@code -vv}: {@code <} what comes, {@code >} what goes.
 * Without values. There is one only if it is logged, so a server that does not log has nothing to do. Owned by the thread
 * of the connection.
 */
final class CommandLog {
    private static final Logger LOG = LoggerFactory.getLogger("org.softrdma.kv.server.commands");
    private static final int LONGEST = 500;

    private final long number;

    private CommandLog(long number) {
        this.number = number;
    }

    /**
     * Null if nothing is logged.
     *
     * @param number of the connection
     */
    static @Nullable CommandLog of(long number) {
        return LOG.isDebugEnabled() ? new CommandLog(number) : null;
    }

    void opened(@Nullable SocketAddress from) {
        LOG.debug("<{} new client connection from {}", number, from == null ? "a Unix socket" : from);
    }

    void closed(CloseReason reason) {
        LOG.debug("<{} connection closed ({})", number, reason.name().toLowerCase(Locale.ROOT));
    }

    void asked(TextRequest request) {
        LOG.debug("<{} {}", number, visible(request.line()));
    }

    void asked(BinaryRequest request) {
        LOG.debug(
                "<{} {}{} {}",
                number,
                request.operation(),
                request.isQuiet() ? " quiet" : "",
                visible(request.key().toArray()));
    }

    /** An answer of one or more lines. */
    void told(byte[] answer, int length) {
        int end = length;
        while (end > 0 && answer[end - 1] <= ' ') {
            end--;
        }
        byte[] text = new byte[Math.min(end, LONGEST + 1)];
        System.arraycopy(answer, 0, text, 0, text.length);
        LOG.debug(">{} {}", number, visible(text));
    }

    void told(AnswerFrame frame) {
        LOG.debug(">{} status 0x{}", number, Integer.toHexString(FrameDescriptor.status(frame.bytes())));
    }

    /** Clients choose these bytes: none of them may act on a terminal or begin a line. */
    private static String visible(byte[] text) {
        StringBuilder visible = new StringBuilder();
        for (int i = 0; i < Math.min(text.length, LONGEST); i++) {
            char c = (char) (text[i] & 0xff);
            if (c >= ' ' && c <= '~') {
                visible.append(c);
            } else {
                visible.append("\\x").append(String.format(Locale.ROOT, "%02x", (int) c));
            }
        }
        return (text.length > LONGEST ? visible.append("...") : visible).toString();
    }
}
