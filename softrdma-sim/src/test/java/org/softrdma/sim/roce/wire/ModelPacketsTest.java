package org.softrdma.sim.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Random packets of a model in another language, with their fields. The property {@code softrdma.roce.packets} names a
 * file with more of them.
 */
class ModelPacketsTest {
    private static final List<String> LINES =
            CapturedPacket.read(System.getProperty("softrdma.roce.packets", "random.txt"));

    @Test
    void shouldReadTheFieldsThatTheModelWrote() {
        assertTrue(LINES.size() >= 100);
        for (String line : LINES) {
            CapturedPacket packet = packet(line);
            assertEquals(PacketCheck.VALID, RocePacket.check(packet.address(), packet.length()), line);
            assertEquals(fields(line), PacketFields.read(packet), line);
            assertEquals(packet.icrc(packet.header()), RocePacket.icrc(packet.address(), packet.length()), line);
        }
    }

    @Test
    void shouldWriteThePacketsThatTheModelWrote() {
        for (String line : LINES) {
            CapturedPacket packet = packet(line);
            assertEquals(packet.hex(), PacketFields.write(fields(line), packet.header()), line);
        }
    }

    private static Map<String, String> fields(String line) {
        return Arrays.stream(line.split(" \\| ", 2)[0].split(" ", -1))
                .map(field -> field.split("=", 2))
                .collect(Collectors.toMap(field -> field[0], field -> field[1], (a, b) -> b, TreeMap::new));
    }

    private static CapturedPacket packet(String line) {
        return new CapturedPacket(HexFormat.of().parseHex(line.split(" \\| ", 2)[1]));
    }
}
