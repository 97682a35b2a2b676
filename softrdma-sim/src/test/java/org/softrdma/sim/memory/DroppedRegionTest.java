package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.sim.pinning.PinnedPair;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.RemoteRegion;

/** A region that is dropped and not closed: its key lives, so its memory must. In a JVM of its own, which it may end. */
class DroppedRegionTest {
    private static final String WIRE = "dropped-region.wire";
    private static final int BYTES = 32 << 20;
    private static final int PIECE = 1 << 20;
    private static final int COLLECTIONS = 5;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

    @ParameterizedTest
    @ValueSource(strings = {"iwarp", "roce"})
    void shouldServeAPeerWhenRegionAndMemoryWereDroppedWithoutClose(String wire) {
        ChildJvm.Outcome child = ChildJvm.run(
                List.of(),
                List.of("-Xmx64m", "-XX:MaxDirectMemorySize=256m", "-D" + WIRE + "=" + wire),
                DroppedRegionTest.class);

        assertEquals(
                List.of(
                        "direct buffer: reachable, READs " + BYTES + " right bytes",
                        "automatic arena: reachable, READs " + BYTES + " right bytes"),
                child.lines().stream()
                        .filter(line -> line.contains("arena: ") || line.contains("buffer: "))
                        .toList(),
                () -> child.toString());
        assertEquals(0, child.exitCode());
    }

    @ParameterizedTest
    @ValueSource(strings = {"iwarp", "roce"})
    void shouldLetMemoryGoWhenItsRegionWasClosed(String wire) {
        try (PinnedPair pair = PinnedPair.on(wire, "pinning", "off")) {
            WeakReference<ByteBuffer> owner = new WeakReference<>(ByteBuffer.allocateDirect(PIECE));
            registerAndClose(pair, owner);
            collect(owner);
            assertTrue(owner.refersTo(null), "memory of a closed region is still reachable");
        }
    }

    private static void registerAndClose(PinnedPair pair, WeakReference<ByteBuffer> owner) {
        ByteBuffer buffer = owner.get();
        if (buffer == null) {
            throw new AssertionError("collected too early");
        }
        var region = pair.server().domain().register(MemorySegment.ofBuffer(buffer), Set.of(AccessFlag.REMOTE_READ));
        assertEquals(CompletionStatus.SUCCESS, pair.read(region, 0, PIECE));
        region.close();
    }

    /** Runs collections until an object that nobody refers to, made before, is gone some times, or the other one is. */
    private static void collect(WeakReference<?> other) {
        long startNs = System.nanoTime();
        for (int i = 0; i < COLLECTIONS && !other.refersTo(null); i++) {
            WeakReference<Object> sentinel = new WeakReference<>(new Object());
            while (!sentinel.refersTo(null)) {
                assertTrue(System.nanoTime() - startNs < DEADLINE_NS, "the collector does not run");
                System.gc();
            }
        }
    }

    /**
     * The child: prints whether dropped memory is still there, and what a peer reads of it.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        PinnedPair pair = PinnedPair.on(System.getProperty(WIRE, "iwarp"), "pinning", "off");
        read(pair, "direct buffer", register(pair, MemorySegment.ofBuffer(ByteBuffer.allocateDirect(BYTES))));
        read(pair, "automatic arena", register(pair, Arena.ofAuto().allocate(BYTES)));
        System.exit(0);
    }

    /**
     * A region that nobody refers to.
     *
     * @param region what a peer knows of it
     * @param owner of its memory
     */
    private record Dropped(RemoteRegion region, WeakReference<MemorySegment.Scope> owner) {}

    private static Dropped register(PinnedPair pair, MemorySegment memory) {
        for (int i = 0; i < BYTES; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, content(i));
        }
        RemoteRegion region = pair.server()
                .domain()
                .register(memory, Set.of(AccessFlag.REMOTE_READ))
                .remote();
        return new Dropped(region, new WeakReference<>(memory.scope()));
    }

    private static void read(PinnedPair pair, String what, Dropped dropped) {
        collect(dropped.owner);
        System.out.print(what + (dropped.owner.refersTo(null) ? ": collected" : ": reachable"));
        System.out.flush();
        long right = 0;
        for (int offset = 0; offset < BYTES; offset += PIECE) {
            CompletionStatus status = pair.read(dropped.region, offset, PIECE);
            for (int i = 0; status == CompletionStatus.SUCCESS && i < PIECE; i++) {
                right += pair.received().get(ValueLayout.JAVA_BYTE, i) == content(offset + i) ? 1 : 0;
            }
        }
        System.out.println(", READs " + right + " right bytes");
    }

    private static byte content(int at) {
        return (byte) ((at * 31) >>> 7);
    }
}
