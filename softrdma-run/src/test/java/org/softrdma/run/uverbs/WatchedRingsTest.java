package org.softrdma.run.uverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.run.uverbs.ScriptedProgram.SEND;
import static org.softrdma.run.uverbs.ScriptedProgram.SIGNALLED;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.faults.CardFaults;
import org.softrdma.run.kernel.CallRefusedException;

/** What whoever starts a run can see of its card: its packets, and its counters at the end. */
@EnabledOnOs(OS.LINUX)
class WatchedRingsTest {
    private static final int MESSAGES = 5;
    /** Of pcapng: an Enhanced Packet Block, which begins as each block does with its type and its length. */
    private static final int PACKET = 6;

    private static final int SUCCESS = 0;
    private static final int NO_CHANNEL = -1;

    @TempDir
    private Path folder;

    @Test
    void shouldCaptureAndCountItsPackets() throws CallRefusedException, IOException {
        Path file = folder.resolve("packets.pcapng");
        Map<String, Long> counters = new HashMap<>();
        try (ScriptedProgram program =
                new ScriptedProgram(new CardSettings(CardFaults.none(), Optional.of(file), counters::putAll))) {
            ScriptedProgram.Completions completions = program.completions(100, NO_CHANNEL, 1);
            ScriptedProgram.Pair from = program.pair(2, completions, 7, 7);
            ScriptedProgram.Pair to = program.pair(2, completions, 7, 7);
            program.connect(from, to);
            for (int i = 1; i <= MESSAGES; i++) {
                to.receive(100 + i, 20_000, 3000);
                from.post(i, SEND, SIGNALLED, 100, 2000);
                completions.expect(100 + i, SUCCESS);
                completions.expect(i, SUCCESS);
            }
        }
        long sent = counters.getOrDefault("roce.packetsSent", 0L);
        assertTrue(sent >= 2 * MESSAGES, counters::toString); // each message is acknowledged
        assertEquals(
                sent,
                packets(file)); // on a busy machine some are sent again, and the last is not received before the end
    }

    private static int packets(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int packets = 0;
        for (int at = 0; at < bytes.limit(); at += bytes.getInt(at + Integer.BYTES)) {
            packets += bytes.getInt(at) == PACKET ? 1 : 0;
        }
        return packets;
    }
}
