package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.live.LiveChecks;
import org.softrdma.stores.live.LiveStores;

/** Over TCP, with the server on a thread of its own. */
class PilafLiveTest {
    private LiveStores live;

    @BeforeEach
    void start() {
        live = new LiveStores(
                1,
                (node, device, context) -> StoreDesigns.named("pilaf")
                        .serve(
                                device,
                                context.options(Map.of("entries", "8", "extents", "18"))
                                        .conclude()));
    }

    @AfterEach
    void stop() {
        live.close();
    }

    private StoreClient client(String design) {
        return StoreDesigns.named(design)
                .connect(live.clientDevice(), new StoreClientContext(live.address()).conclude());
    }

    @ParameterizedTest
    @ValueSource(strings = {"pilaf", "pilaf-vo"})
    void shouldStoreGetAndRemove(String design) {
        LiveChecks.storesGetsAndRemoves(client(design));
    }

    @ParameterizedTest
    @ValueSource(strings = {"pilaf", "pilaf-vo"})
    void shouldAllocateNothingPerGet(String design) {
        LiveChecks.allocatesNothingPerGet(client(design), live::allocatedBytes);
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        StoreDesign design = StoreDesigns.named("pilaf");
        StoreException differs = assertThrows(
                StoreException.class,
                () -> design.connect(
                        live.clientDevice(),
                        new StoreClientContext(live.address())
                                .maxValueLength(100)
                                .conclude()));
        assertTrue(String.valueOf(differs.getMessage()).contains("maxValueLength=4096"), differs::toString);
        assertThrows(
                IllegalArgumentException.class,
                () -> design.connect(
                        live.clientDevice(),
                        new StoreClientContext(live.address())
                                .options(Map.of("x", "y"))
                                .conclude()));
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        assertThrows(
                StoreException.class,
                () -> design.connect(live.clientDevice(), new StoreClientContext(nobody).conclude()));
        LiveChecks.refusesWhatIsTooMuch(client("pilaf"));
        assertThrows(IllegalArgumentException.class, () -> StoreDesigns.named("nobody's"));
    }
}
