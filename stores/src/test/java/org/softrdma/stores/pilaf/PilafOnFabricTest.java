package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.device.VerbsDevice;

/** One client and one server. */
class PilafOnFabricTest {
    private interface Body {
        void run(BlockingStore store, FabricStores.RunningServer server) throws Exception;
    }

    private static void run(String name, UnaryOperator<StoreServerContext> settings, Body body) {
        StoreDesign design = StoreDesigns.named(name);
        Fabric fabric = Fabric.ofSeed(7);
        FabricNode server = fabric.node("server");
        FabricNode client = fabric.node("client");
        fabric.run(client, () -> {
            FabricStores.RunningServer running = FabricStores.serve(fabric, server, design, settings);
            try (VerbsDevice device = client.open(Map.of());
                    BlockingStore store = new BlockingStore(design.connect(
                            device, FabricStores.client(fabric, server).conclude()))) {
                body.run(store, running);
            }
            running.stop();
        });
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static StoreServerContext small(StoreServerContext context) {
        return context.options(Map.of("entries", "6", "extents", "14"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"pilaf", "pilaf-vo"})
    void shouldDoAsAMap(String name) {
        run(name, PilafOnFabricTest::small, (store, server) -> {
            Map<String, byte[]> model = new HashMap<>();
            Random random = new Random(1);
            for (int i = 0; i < 2000; i++) {
                String key = "key" + random.nextInt(48);
                byte[] was = model.get(key);
                switch (random.nextInt(3)) {
                    case 0 -> {
                        byte[] value = new byte[random.nextInt(200)];
                        random.nextBytes(value);
                        assertTrue(store.put(bytes(key), value));
                        model.put(key, value);
                    }
                    case 1 -> {
                        assertEquals(was != null, store.remove(bytes(key)));
                        model.remove(key);
                    }
                    default -> {
                        Optional<byte[]> got = store.get(bytes(key));
                        assertEquals(was != null, got.isPresent(), key);
                        got.ifPresent(value -> assertArrayEquals(was, value));
                    }
                }
            }
            assertEquals(model.size(), server.server().space().pairs());
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"pilaf", "pilaf-vo"})
    void shouldGrowByResetAndLoseNothing(String name) {
        run(name, context -> context.options(Map.of("entries", "3", "extents", "10")), (store, server) -> {
            for (int i = 0; i < 300; i++) {
                assertTrue(store.put(bytes("key" + i), bytes("value" + i)), "put " + i);
            }
            for (int i = 0; i < 300; i++) {
                assertArrayEquals(
                        bytes("value" + i), store.get(bytes("key" + i)).orElseThrow());
            }
            assertFalse(store.get(bytes("other")).isPresent());
            assertEquals(300, server.server().space().pairs());
        });
    }

    @Test
    void shouldRefuseWhenItMayNotGrow() {
        Map<String, String> options = Map.of("entries", "4", "most-entries", "4", "extents", "8", "most-extents", "8");
        run("pilaf", context -> context.options(options), (store, server) -> {
            int stored = 0;
            while (store.put(bytes("key" + stored), bytes("v"))) {
                stored++;
            }
            assertEquals(4, stored); // 256 bytes of extents, 64 each
            for (int i = 0; i < stored; i++) {
                assertTrue(store.get(bytes("key" + i)).isPresent());
            }
            assertTrue(store.remove(bytes("key0")));
            assertTrue(store.put(bytes("another"), bytes("v")));
        });
    }
}
