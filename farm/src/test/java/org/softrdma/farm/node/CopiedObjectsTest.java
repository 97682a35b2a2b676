package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmRegion;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.stores.MemorySteps;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** Objects of a region, from the memory of one machine to that of another. */
class CopiedObjectsTest {
    private static final SpaceShape SHAPE = new SpaceShape(1 << 14, 1 << 10, true);
    private static final int REGION = 7;
    private static final int LONGEST = 1024;
    private static final int VALUE = FarmObjectDescriptor.PAYLOAD_OFFSET;

    private interface Body {
        void run(FarmSpace primary, FarmRegion from, FarmSpace copy, FarmRegion to);
    }

    private static FarmSpace space(VerbsDevice device, ProtectionDomain domain, int machine) {
        FarmSpace space = new FarmSpace(device, domain, SHAPE, MemorySteps.OF_JVM, machine);
        RegionPlacement placement = new RegionPlacement(0, List.of(), List.of(1));
        space.onConfiguration(new FarmConfiguration(
                1, 0, 1, 0, new TreeSet<>(List.of(0, 1)), new TreeMap<>(Map.of(REGION, placement))));
        space.locksRecovered();
        return space;
    }

    private static void run(Body body) {
        Fabric fabric = Fabric.ofSeed(1);
        FabricNode node = fabric.node("m0");
        fabric.run(node, () -> {
            try (VerbsDevice device = node.open(Map.of());
                    ProtectionDomain domain = device.allocateProtectionDomain();
                    FarmSpace primary = space(device, domain, 0);
                    FarmSpace copy = space(device, domain, 1)) {
                body.run(
                        primary,
                        Objects.requireNonNull(primary.region(REGION)),
                        copy,
                        Objects.requireNonNull(copy.region(REGION)));
            }
        });
    }

    private static void write(FarmRegion region, long address, int length, long value) {
        long offset = FarmAddress.offset(address);
        ObjectImage image = new ObjectImage();
        region.writer().load(offset, length, image);
        image.putLong(VALUE, value);
        region.writer().lockForWriting(offset, length);
        region.writer().write(offset, image);
        region.writer().unlock(offset, image);
    }

    private static long value(FarmRegion region, long address, int length) {
        ObjectImage image = new ObjectImage();
        region.writer().load(FarmAddress.offset(address), length, image);
        return image.getLong(VALUE);
    }

    /** All answers, until the last one. */
    private static List<ByteBuffer> answers(FarmSpace primary) {
        List<ByteBuffer> answers = new ArrayList<>();
        long from = 0;
        do {
            ByteBuffer answer = CopiedObjects.answer(CopiedObjects.request(REGION, from), primary, LONGEST);
            assertTrue(CopiedObjects.isValid(answer, from), "from " + from);
            assertTrue(answer.limit() <= CopiedObjects.longestAnswer(SHAPE, LONGEST));
            answers.add(answer);
            from = CopiedObjects.next(answer);
        } while (from != 0);
        return answers;
    }

    /** Each object once, of whatever size, without its lock; and little beside them. */
    @Test
    void shouldBringEveryObjectOnce() {
        run((primary, from, copy, to) -> {
            List<Long> addresses = new ArrayList<>();
            int[] lengths = {24, 100, 24, 700, 24, 100, 300, 24};
            long bytes = 0;
            for (int i = 0; i < 3 * lengths.length / 2; i++) {
                int length = lengths[i % lengths.length];
                long address = primary.allocate(length, FarmAddress.NONE);
                addresses.add(address);
                if (i != 2) { // it is only reserved
                    write(from, address, length, i + 1);
                    bytes += from.slotLength(FarmAddress.offset(address));
                }
            }
            assertTrue(from.writer()
                    .tryLock(
                            FarmAddress.offset(addresses.getFirst()),
                            FarmObjectDescriptor.VERSION_STEP,
                            FarmObjectDescriptor.EXCLUSIVE));
            long sent = 0;
            for (ByteBuffer answer : answers(primary)) {
                sent += answer.limit() - NodeMessageDescriptor.RESULT_OFFSET;
                assertTrue(CopiedObjects.put(answer, to));
            }
            for (int i = 0; i < addresses.size(); i++) {
                long address = addresses.get(i);
                long offset = FarmAddress.offset(address);
                assertEquals(i == 2 ? 0 : i + 1, value(to, address, lengths[i % lengths.length]), "object " + i);
                assertEquals(
                        i == 2 ? 0 : FarmObjectDescriptor.VERSION_STEP,
                        to.writer().version(offset));
            }
            System.out.println(sent + " bytes for " + bytes + " in use");
            assertTrue(sent < bytes * 13 / 10, sent + " bytes for " + bytes);
        });
    }

    /** A transaction of this epoch has written it, and told the copy as a replica. */
    @Test
    void shouldPutNothingOverWhatIsNewer() {
        run((primary, from, copy, to) -> {
            long one = primary.allocate(24, FarmAddress.NONE);
            long other = primary.allocate(24, FarmAddress.NONE);
            write(from, one, 24, 1);
            write(from, other, 24, 2);
            write(to, one, 24, 5);
            write(to, one, 24, 6);
            for (int i = 0; i < 2; i++) { // and twice is as once
                answers(primary).forEach(answer -> assertTrue(CopiedObjects.put(answer, to)));
                assertEquals(6, value(to, one, 24));
                assertEquals(2, value(to, other, 24));
            }
        });
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        run((primary, from, copy, to) -> {
            long address = primary.allocate(24, FarmAddress.NONE);
            write(from, address, 24, 1);
            ByteBuffer good = answers(primary).getFirst();
            for (int at : new int[] {32, 40, 44, 48, 56}) {
                ByteBuffer bad = NodeMessageDescriptor.answer(
                        NodeVerdict.DONE, good.limit() - NodeMessageDescriptor.RESULT_OFFSET);
                bad.put(0, good, 0, good.limit());
                bad.put(at, (byte) 3);
                assertFalse(CopiedObjects.isValid(bad, 5000) && CopiedObjects.put(bad, to), "at " + at);
            }
            assertEquals(0, to.writer().version(FarmAddress.offset(address)));
            assertEquals(NodeVerdict.REFUSED, verdict(CopiedObjects.request(REGION, -1), primary));
            assertEquals(NodeVerdict.NOT_READY, verdict(CopiedObjects.request(REGION + 1, 0), primary));
            assertEquals(NodeVerdict.NOT_READY, verdict(CopiedObjects.request(REGION, 0), copy));
            assertEquals(NodeVerdict.DONE, verdict(CopiedObjects.request(REGION, Long.MAX_VALUE / 2), primary));
        });
    }

    private static NodeVerdict verdict(ByteBuffer request, FarmSpace space) {
        return NodeMessageDescriptor.verdict(CopiedObjects.answer(request, space, LONGEST));
    }
}
