package org.softrdma.farm.membership;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A configuration as bytes, little endian, without gaps. Whoever composes it writes all of it.
 *
 * <pre>
 *  31                            16 15                            0
 * +---------------------------------------------------------------+
 * |  epoch                                                        |   0
 * +---------------------------------------------------------------+
 * |  revision                                                     |   4
 * +---------------------------------------------------------------+
 * |  newest + 1                                                   |   8
 * +---------------------------------------------------------------+
 * |  removal                                                      |  12
 * +---------------------------------------------------------------+
 * |  members                                                      |  16
 * +---------------------------------------------------------------+
 * |  regions                                                      |  20
 * +-------------------------------+-------------------------------+
 * |  each member's number, 16 bits                                |  24
 * +---------------------------------------------------------------+
 * |  each region: number                                          |
 * +-------------------------------+-------------------------------+
 * |  primary + 1; 0: lost         |  replicas       |  copies     |
 * +-------------------------------+-------------------------------+
 * |  replicas, then copies, 16 bits each                          |
 * +---------------------------------------------------------------+
 * </pre>
 */
public final class FarmConfigurationDescriptor {
    private static final int HEADER = 6 * Integer.BYTES;
    private static final int REGION = 2 * Integer.BYTES;

    private FarmConfigurationDescriptor() {}

    /** The bytes of a configuration. */
    public static byte[] encode(FarmConfiguration configuration) {
        int length = HEADER + configuration.members().size() * Short.BYTES;
        for (RegionPlacement placement : configuration.regions().values()) {
            length += REGION + (placement.replicas().size() + placement.copies().size()) * Short.BYTES;
        }
        ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(configuration.epoch()).putInt(configuration.revision()).putInt(configuration.newest() + 1);
        buffer.putInt(configuration.removal())
                .putInt(configuration.members().size())
                .putInt(configuration.regions().size());
        configuration.members().forEach(member -> buffer.putShort(member.shortValue()));
        configuration.regions().forEach((region, placement) -> {
            buffer.putInt(region).putShort((short) (placement.primary() + 1));
            buffer.put((byte) placement.replicas().size())
                    .put((byte) placement.copies().size());
            placement.replicas().forEach(machine -> buffer.putShort(machine.shortValue()));
            placement.copies().forEach(machine -> buffer.putShort(machine.shortValue()));
        });
        return buffer.array();
    }

    /**
     * The configuration that bytes are.
     *
     * @throws IllegalArgumentException if they are none
     */
    public static FarmConfiguration decode(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        requireLeft(buffer, HEADER);
        int epoch = buffer.getInt();
        int revision = buffer.getInt();
        int newest = buffer.getInt() - 1;
        int removal = buffer.getInt();
        int members = buffer.getInt();
        int regions = buffer.getInt();
        requireLeft(buffer, (long) members * Short.BYTES + (long) regions * REGION);
        SortedSet<Integer> machines = new TreeSet<>(machines(buffer, members));
        SortedMap<Integer, RegionPlacement> placements = new TreeMap<>();
        for (int i = 0; i < regions; i++) {
            requireLeft(buffer, REGION);
            int region = buffer.getInt();
            int primary = Short.toUnsignedInt(buffer.getShort()) - 1;
            int replicas = Byte.toUnsignedInt(buffer.get());
            int copies = Byte.toUnsignedInt(buffer.get());
            requireLeft(buffer, (long) (replicas + copies) * Short.BYTES);
            placements.put(region, new RegionPlacement(primary, machines(buffer, replicas), machines(buffer, copies)));
        }
        if (buffer.hasRemaining() || machines.size() != members || placements.size() != regions) {
            throw new IllegalArgumentException(bytes.length + " bytes are no configuration: " + buffer.remaining()
                    + " behind its end, or numbers that come twice");
        }
        return new FarmConfiguration(epoch, revision, newest, removal, machines, placements);
    }

    private static List<Integer> machines(ByteBuffer buffer, int count) {
        List<Integer> machines = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            machines.add(Short.toUnsignedInt(buffer.getShort()));
        }
        return machines;
    }

    private static void requireLeft(ByteBuffer buffer, long bytes) {
        if (bytes < 0 || bytes > buffer.remaining()) {
            throw new IllegalArgumentException(buffer.capacity() + " bytes are no configuration: expected " + bytes
                    + " more at " + buffer.position());
        }
    }
}
