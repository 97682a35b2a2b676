package org.softrdma.farm.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
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
import org.softrdma.farm.memory.LockFreeReader;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ReadVerdict;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.stores.MemorySteps;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** A machine's part in transactions, message by message; and what readers may see between any two of its steps. */
class ParticipantTest {
    private static final TxId ID = new TxId(1, 9, 1);
    private static final TxId OTHER = new TxId(1, 9, 2);
    private static final int VALUE = FarmObjectDescriptor.PAYLOAD_OFFSET;
    /** An object of two lines and more. */
    private static final int LENGTH = VALUE + 150;

    private static final SpaceShape SHAPE = new SpaceShape(1 << 14, 1 << 10, true);
    private static final int REGION = 7;
    private static final long LOCKED = -1;

    /** Lets a reader look between any two steps of a change. */
    private static final class Looks extends MemorySteps {
        private Runnable look = () -> {};

        @Override
        public void step(Enum<?> point) {
            look.run();
        }

        @Override
        public void fence() {
            super.fence();
            look.run();
        }

        @Override
        public void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long length) {
            super.copy(from, fromOffset, to, toOffset, length);
            look.run();
        }
    }

    private final Looks looks = new Looks();
    private final TreeSet<Integer> members = new TreeSet<>(List.of(0, 1, 2));

    private FarmConfiguration configuration(int epoch, RegionPlacement placement) {
        return new FarmConfiguration(epoch, 0, 2, members, new TreeMap<>(Map.of(REGION, placement)));
    }

    private interface Body {
        void run(FarmSpace space, Participant participant);
    }

    /** Machine 0, which has a region. */
    private void run(RegionPlacement placement, Body body) {
        Fabric fabric = Fabric.ofSeed(1);
        FabricNode node = fabric.node("m0");
        fabric.run(node, () -> {
            try (VerbsDevice device = node.open(Map.of());
                    ProtectionDomain domain = device.allocateProtectionDomain();
                    FarmSpace space = new FarmSpace(device, domain, SHAPE, looks, 0)) {
                space.onConfiguration(configuration(1, placement));
                body.run(space, new Participant(space));
            }
        });
    }

    private static WriteEntry entry(long offset, long version, long value) {
        ObjectImage image = new ObjectImage();
        image.reset(LENGTH, version);
        image.putLong(VALUE, value);
        return new WriteEntry(FarmAddress.of(REGION, offset), WriteEntry.Change.WRITE, image);
    }

    private static NodeVerdict prepare(Participant participant, TxId id, WriteEntry... entries) {
        return verdict(participant, TransactionMessages.prepare(id, new TreeSet<>(List.of(REGION)), List.of(entries)));
    }

    private static NodeVerdict decide(Participant participant, NodeMessageKind kind, TxId id) {
        return verdict(participant, TransactionMessages.decision(kind, id));
    }

    private static NodeVerdict verdict(Participant participant, ByteBuffer message) {
        return NodeMessageDescriptor.verdict(participant.onMessage(message));
    }

    /** What a lock-free reader takes: the value of an object, or {@link #LOCKED}. */
    private static long look(FarmSpace space, long offset) {
        MemorySegment memory = Objects.requireNonNull(space.region(REGION)).segment();
        ObjectImage image = new ObjectImage();
        return new LockFreeReader(true).read(memory, offset, offset, LENGTH, image) == ReadVerdict.CONSISTENT
                ? image.getLong(VALUE)
                : LOCKED;
    }

    private static void write(Participant participant, TxId id, long offset, long version, long value) {
        assertEquals(NodeVerdict.DONE, prepare(participant, id, entry(offset, version, value)));
        assertEquals(NodeVerdict.DONE, decide(participant, NodeMessageKind.COMMIT_PRIMARY, id));
    }

    /**
     * A transaction has committed on another machine, where its new object is seen. From then on nobody may see an old one
     * here.
     */
    @Test
    void shouldNeverShowAnOldObjectOnceItIsToCommit() {
        run(new RegionPlacement(0, List.of(), List.of()), (space, participant) -> {
            write(participant, OTHER, 1024, 0, 1);
            write(participant, new TxId(1, 9, 3), 2048, 0, 1);
            assertEquals(NodeVerdict.DONE, prepare(participant, ID, entry(1024, 4, 2), entry(2048, 4, 2)));
            List<List<Long>> seen = new ArrayList<>();
            looks.look = () -> seen.add(List.of(look(space, 1024), look(space, 2048)));
            assertEquals(NodeVerdict.DONE, decide(participant, NodeMessageKind.COMMIT_PRIMARY, ID));

            assertTrue(seen.size() > 10, seen.toString());
            seen.forEach(pair -> assertTrue(!pair.contains(1L), () -> "an old object in " + seen));
            assertEquals(List.of(2L, 2L), List.of(look(space, 1024), look(space, 2048)));
        });
    }
}
