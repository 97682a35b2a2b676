package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.hash.ChecksumPair;
import org.softrdma.verbs.device.VerbsDevice;

/** A GET that finds memory half written, and finds it so again and again, asks the server. */
class PilafGivingUpTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final int VALUE = 100;

    private interface Spoiler {
        void spoil(PilafTable table, int slot);
    }

    private static StoreCounters get(Spoiler spoiler) {
        Fabric fabric = Fabric.ofSeed(3);
        FabricNode server = fabric.node("server");
        FabricNode client = fabric.node("client");
        StoreCounters counters = new StoreCounters();
        fabric.run(client, () -> {
            var running = FabricStores.serve(
                    fabric,
                    server,
                    new PilafDesign(),
                    context -> context.options(Map.of("entries", "4", "extents", "12")));
            try (VerbsDevice device = client.open(Map.of());
                    BlockingStore store = new BlockingStore(new PilafDesign()
                            .connect(device, FabricStores.client(fabric, server).conclude()))) {
                assertTrue(store.put(KEY, new byte[VALUE]));
                PilafTable table = ((PilafServer) running.server()).keeper().table();
                spoiler.spoil(table, table.find(MemorySegment.ofArray(KEY), 0, KEY.length));
                assertEquals(VALUE, store.get(KEY).orElseThrow().length);
                counters.add(store.client().counters());
            }
            running.stop();
        });
        return counters;
    }

    private static void flip(MemorySegment memory, long at) {
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) ~memory.get(ValueLayout.JAVA_BYTE, at));
    }

    @Test
    void shouldAskTheServerWhenAnEntryIsNeverWhole() {
        // The high byte of the version: the entry is in use, and leads to its extent.
        StoreCounters counters = get((table, slot) -> flip(table.memory(), slot * 32L + 1));

        assertEquals(PilafGet.RETRY_LIMIT + 1, counters.get(StoreCounter.ENTRY_RETRIES));
        assertEquals(1, counters.get(StoreCounter.HANDED_OVER));
    }

    @Test
    void shouldAskTheServerWhenAnExtentIsNeverWhole() {
        StoreCounters counters = get((table, slot) -> flip(table.extents(), table.extent(slot) + VALUE));

        assertEquals(PilafGet.RETRY_LIMIT + 1, counters.get(StoreCounter.EXTENT_RETRIES));
        assertEquals(1, counters.get(StoreCounter.HANDED_OVER));
    }

    /** Nobody has written such an entry, whatever its checksum says: its READ would cost the connection. */
    @Test
    void shouldNotReadBeyondTheExtentsWhateverAnEntrySays() {
        Fabric fabric = Fabric.ofSeed(4);
        FabricNode server = fabric.node("server");
        FabricNode machine = fabric.node("client");
        fabric.run(machine, () -> {
            var running = FabricStores.serve(
                    fabric,
                    server,
                    new PilafDesign(),
                    context -> context.options(Map.of("entries", "4", "extents", "12")));
            try (VerbsDevice device = machine.open(Map.of());
                    StoreClient client = new PilafDesign()
                            .connect(device, FabricStores.client(fabric, server).conclude())) {
                Outcome[] ended = new Outcome[1];
                ResultHandler handler = (tag, outcome, memory, offset, length) -> ended[0] = outcome;
                assertTrue(client.startPut(KEY, MemorySegment.ofArray(new byte[VALUE]), 0));
                assertEquals(1, client.await(Long.MAX_VALUE / 4, handler));
                PilafTable table = ((PilafServer) running.server()).keeper().table();
                int slot = table.find(MemorySegment.ofArray(KEY), 0, KEY.length);
                long extent = table.extent(slot);
                name(table, slot, table.extents().byteSize() - Long.BYTES);
                assertTrue(client.startGet(KEY, 0));
                while (client.outstanding() > 0 && client.counters().get(StoreCounter.ENTRY_RETRIES) == 0) {
                    fabric.idleStrategy().idle(client.poll(handler));
                }
                name(table, slot, extent);
                assertEquals(1, client.await(Long.MAX_VALUE / 4, handler));
                assertEquals(Outcome.FOUND, ended[0]);
                assertEquals(0, client.counters().get(StoreCounter.RECONNECTS));
            }
            running.stop();
        });
    }

    /** The entry names an extent at another place, and its checksum fits. */
    private static void name(PilafTable table, int slot, long extent) {
        MemorySegment memory = table.memory();
        int at = slot * PilafEntryDescriptor.LENGTH;
        PilafEntryDescriptor.put(
                memory,
                memory.asByteBuffer(),
                at,
                PilafEntryDescriptor.header(memory, at),
                extent,
                PilafEntryDescriptor.extentChecksum(memory, at),
                new ChecksumPair());
    }
}
