package org.softrdma.kv.server.session;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.softrdma.kv.binary.AnswerFrame;
import org.softrdma.kv.binary.BinaryRequest;
import org.softrdma.kv.binary.Status;

/**
 * stat of the binary protocol: a frame for each line that the text protocol answers, and an empty one at the end.
 * Owned by the thread of the connection.
 */
final class BinaryStatistics {
    private static final String LINE_START = "STAT ";
    private static final String LINE_END = "\r\n";
    private static final byte[] NO_ROOM = "Out of memory generating stats".getBytes(StandardCharsets.US_ASCII);

    private final KvService service;
    private final ServerStatistics statistics;
    private final Conversation connection;
    private final AnswerFrame frame = new AnswerFrame();

    BinaryStatistics(ServerParts server, Conversation connection) {
        this.service = server.service();
        this.statistics = server.statistics();
        this.connection = connection;
    }

    /** Its key says which; of some, memcached looks at the beginning only. */
    void answer(BinaryRequest request) {
        String what = request.key().toString();
        if (what.startsWith("reset")) {
            statistics.reset();
            connection.reply(frame.statistic(request, 0, 0));
        } else if (what.startsWith("settings")) {
            send(request, statistics.settings());
        } else if (what.startsWith("detail")) {
            detail(request, what.substring("detail".length()));
        } else {
            switch (what) {
                case "" -> send(request, statistics.general());
                case "items" -> send(request, statistics.items());
                case "slabs" -> send(request, statistics.slabs());
                case "sizes" -> send(request, statistics.sizes());
                case "rdma" -> send(request, statistics.rdma());
                default -> connection.reply(frame.refuse(request, Status.NOT_FOUND));
            }
        }
    }

    private void detail(BinaryRequest request, String what) {
        if (what.startsWith(" dump")) {
            if (service.outputBudget().isShort()) {
                connection.reply(frame.refuse(request, Status.OUT_OF_MEMORY, NO_ROOM));
                return;
            }
            ByteArrayOutputStream frames = new ByteArrayOutputStream();
            add(
                    frames,
                    request,
                    "detailed".getBytes(StandardCharsets.US_ASCII),
                    service.prefixes().dump());
            send(request, frames);
        } else if (what.startsWith(" on") || what.startsWith(" off")) {
            service.prefixes().counting(what.startsWith(" on"));
            connection.reply(frame.statistic(request, 0, 0));
        } else {
            connection.reply(frame.refuse(request, Status.NOT_FOUND));
        }
    }

    /** Sends lines of the text protocol, of which the last says that it is the last. */
    private void send(BinaryRequest request, byte[] lines) {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        for (String line : new String(lines, StandardCharsets.ISO_8859_1).split(LINE_END, -1)) {
            int blank = line.indexOf(' ', LINE_START.length());
            if (line.startsWith(LINE_START) && blank > 0) {
                add(
                        frames,
                        request,
                        line.substring(LINE_START.length(), blank).getBytes(StandardCharsets.ISO_8859_1),
                        line.substring(blank + 1).getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        send(request, frames);
    }

    private void send(BinaryRequest request, ByteArrayOutputStream frames) {
        connection.reply(frames.toByteArray());
        connection.reply(frame.statistic(request, 0, 0));
    }

    private void add(ByteArrayOutputStream frames, BinaryRequest request, byte[] name, byte[] value) {
        frame.statistic(request, name.length, value.length);
        frames.write(frame.bytes(), 0, frame.length());
        frames.writeBytes(name);
        frames.writeBytes(value);
    }
}
