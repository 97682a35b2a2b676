package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FaultsBySeed;
import org.softrdma.fabric.FaultsBySeed.Kind;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.network.DatagramSettings;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.race.StoreRace;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Clients that change and get keys of a store: of HERD, too small for them, which loses pairs when it says so, and only
 * then; or of NessieSD, which loses none. No change may be executed twice.
 */
final class HerdRace extends StoreRace {
    private static final int VALUE = 96;
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final String SERVER = "server";
    private static final List<String> CLIENTS = List.of("client1", "client2", "client3", "client4");

    /** Behind the handshake. */
    private static final FaultsBySeed FAULTS = new FaultsBySeed(
            CLIENTS,
            List.of(SERVER),
            4,
            250,
            3000,
            List.of(
                    Kind.KILL,
                    Kind.POWER_OFF,
                    Kind.PAUSE_CLIENT,
                    Kind.PAUSE_SERVER,
                    Kind.PARTITION,
                    Kind.STALL,
                    Kind.DELAY,
                    Kind.DELAY,
                    Kind.CUT,
                    Kind.CUT,
                    Kind.RESET,
                    Kind.RESET));

    /** Of 1000 datagrams 50 are lost, 20 doubled, and 100 late by up to a millisecond. */
    private static final DatagramSettings LOSSY =
            new DatagramSettings(4096, 1 << 16, 50, 20, 100, TimeUnit.MILLISECONDS.toNanos(1));

    private final HerdRaceSettings settings;
    private final FabricNode server;
    private final Map<String, FabricNode> clients = new LinkedHashMap<>();
    private final HerdEvictions evictions;
    private final WatchedHerd design;
    private long executed;

    HerdRace(HerdRaceSettings settings) {
        super(
                settings.seed(),
                settings.faulty() ? FAULTS.plan(settings.seed()) : FaultPlan.NONE,
                settings.datagrams() ? LOSSY : DatagramSettings.DEFAULT);
        this.settings = settings;
        server = fabric().node(SERVER);
        CLIENTS.forEach(name -> clients.put(name, fabric().node(name)));
        evictions = new HerdEvictions(recorder("eviction"));
        design = design(settings);
    }

    private WatchedHerd design(HerdRaceSettings of) {
        if (of.nessieSd()) {
            return WatchedHerd.nessieSd(of.polled());
        }
        return of.datagrams()
                ? WatchedHerd.datagrams(of.polled(), evictions)
                : WatchedHerd.herd(of.polled(), evictions);
    }

    @Override
    protected Map<String, String> deviceOptions() {
        return FabricStores.deviceOptions(design);
    }

    private StoreServerContext serverSettings(StoreServerContext context) {
        return common(context, VALUE)
                .window(1 + Math.floorMod(settings.seed(), WINDOW))
                .maxConnections(16)
                .options(options(settings.seed() % 4 == 0 ? "1" : "2"));
    }

    /** Of HERD, such that both index and log are too small; of NessieSD, such that pairs move, and nearly all have room. */
    private Map<String, String> options(String workers) {
        return settings.nessieSd()
                ? Map.of("workers", workers, "index", "5", "entries", "5")
                : Map.of("workers", workers, "buckets", "0", "log", "9");
    }

    /** Races; throws if what was seen contradicts itself, or if anything fails. */
    HerdRace run() {
        fabric().run(server, () -> {
            FabricStores.RunningServer running = serve();
            startProcesses();
            for (int i = 0; i < settings.crashes(); i++) {
                fabric().scheduler().sleep(random().nextLong(TimeUnit.MILLISECONDS.toNanos(2)));
                running.crash(random().nextInt(40), TimeUnit.MILLISECONDS.toNanos(1));
                count(running);
                values().died();
                running = serve();
            }
            awaitClients();
            running.stop();
            count(running);
        });
        requireOnce();
        judge(settings.crashes() > 0);
        return this;
    }

    private void count(FabricStores.RunningServer running) {
        executed += ((HerdServer) running.server()).changes();
    }

    /** Every change that was answered was executed, and none more often than it was asked for. */
    private void requireOnce() {
        if (settings.mayLoseAnswers()) {
            assertTrue(executed <= values().asked(), executed + " changes executed of " + values().asked());
            assertTrue(executed >= values().answered(), executed + " changes executed, and more answered");
        } else {
            assertEquals(values().asked(), executed, "changes executed");
        }
    }

    private FabricStores.RunningServer serve() {
        return settings.threads()
                ? FabricStores.serveByThreads(fabric(), server, design, this::serverSettings)
                : FabricStores.serve(fabric(), server, design, this::serverSettings);
    }

    HerdEvictions evictions() {
        return evictions;
    }

    private void startProcesses() {
        int left = 2 + random().nextInt(clients.size() - 1);
        for (Map.Entry<String, FabricNode> client : clients.entrySet()) {
            if (left-- > 0) {
                start(
                        client.getValue(),
                        client.getKey(),
                        this::connect,
                        (store, recorder) -> new HerdRaceClient(store, recorder, values(), random(), settings).race(),
                        () -> {});
            }
        }
    }

    private StoreClient connect(VerbsDevice device) {
        return design.connect(
                device,
                common(FabricStores.client(fabric(), server), VALUE, settings.mayLoseAnswers(), TIMEOUT_NS)
                        .options(Map.of("retry-us", Integer.toString(settings.retryUs())))
                        .conclude());
    }
}
