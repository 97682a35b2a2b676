package org.softrdma.stores.herd;

import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.live.LiveChecks;
import org.softrdma.stores.live.LiveStores;

/** Over TCP, with two nodes on a thread of their own, and their workers on it or on threads of their own. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
class NessieSdLiveTest {
    private final StoreDesign design = StoreDesigns.named("nessie-sd");
    private final boolean threads;
    private LiveStores live;

    NessieSdLiveTest(boolean threads) {
        this.threads = threads;
    }

    @BeforeEach
    void start() {
        live = new LiveStores(
                2,
                Map.of(),
                threads,
                (node, device, context) -> design.serve(
                        device,
                        context.options(Map.of("index", "6", "entries", "6")).conclude()));
    }

    @AfterEach
    void stop() {
        live.close();
    }

    private StoreClient client() {
        return design.connect(live.clientDevice(), new StoreClientContext(live.addresses()).conclude());
    }

    @Test
    void shouldStoreGetAndRemove() {
        LiveChecks.storesGetsAndRemoves(client());
    }

    /** The client's thread and the servers', whatever the device's own threads do. */
    @Test
    void shouldAllocateNothingPerGet() {
        LiveChecks.allocatesNothingPerGet(client(), live::allocatedBytes);
    }

    @Test
    void shouldRefuseWhatIsTooMuch() {
        LiveChecks.refusesWhatIsTooMuch(client());
    }
}
