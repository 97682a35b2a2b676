package org.softrdma.stores.pilaf;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FaultsBySeed;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.race.StoreRace;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Clients that change and get the same few keys of a store. The table has eight entries and up to seven pairs, so that
 * keys move; extents are few, so that they are used again at once; every fourth table begins with four entries, and grows.
 */
final class PilafRace extends StoreRace {
    private static final int VALUE = 128;
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final String SERVER = "server";
    private static final List<String> CLIENTS = List.of("reader1", "reader2", "writer1", "writer2");

    /** Behind the handshake. */
    private static final FaultsBySeed FAULTS =
            new FaultsBySeed(CLIENTS, List.of(SERVER), 3, 300, 3000, FaultsBySeed.USUAL);

    private final PilafRaceSettings settings;
    private final FabricNode server;
    private final Map<String, FabricNode> clients = new LinkedHashMap<>();
    private final StoreDesign design;
    private int readers;

    PilafRace(PilafRaceSettings settings) {
        super(settings.seed(), settings.faulty() ? FAULTS.plan(settings.seed()) : FaultPlan.NONE);
        this.settings = settings;
        server = fabric().node(SERVER);
        CLIENTS.forEach(name -> clients.put(name, fabric().node(name)));
        design = settings.byMessages() ? new PilafMessagesDesign() : new PilafDesign();
    }

    private StoreServerContext serverSettings(StoreServerContext context) {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("entries", settings.seed() % 4 == 0 ? "2" : "3");
        options.put("extents", "11");
        options.put("fingerprints", settings.seed() % 3 == 0 ? "on" : "off");
        if (settings.logs() != null) {
            options.put("log", "fsync");
            options.put("directory", settings.logs().toString());
        }
        return common(context, VALUE).maxConnections(16).options(options);
    }

    /** Races; throws if what was seen contradicts itself, or if anything fails. */
    PilafRace run() {
        boolean forgetting = settings.logs() == null;
        fabric().run(server, () -> {
            FabricStores.RunningServer running = serve();
            startProcesses();
            for (int i = 0; i < settings.crashes(); i++) {
                fabric().scheduler().sleep(random().nextLong(TimeUnit.MILLISECONDS.toNanos(2)));
                running.crash(random().nextInt(40), TimeUnit.MILLISECONDS.toNanos(1));
                if (forgetting) {
                    values().died();
                }
                running = serve();
            }
            awaitClients();
            running.stop();
        });
        judge(settings.crashes() > 0 && forgetting);
        return this;
    }

    private FabricStores.RunningServer serve() {
        return FabricStores.serve(fabric(), server, design, this::serverSettings, PilafRace::bury);
    }

    private static void bury(StoreServer server) {
        ((PilafServer) server).abandon();
    }

    private void startProcesses() {
        readers = 1 + random().nextInt(2);
        for (int i = readers; i > 0; i--) {
            start("reader" + i, true);
        }
        for (int i = 1 + random().nextInt(2); i > 0; i--) {
            start("writer" + i, false);
        }
    }

    private void start(String name, boolean reading) {
        FabricNode node = Objects.requireNonNull(clients.get(name));
        start(
                node,
                name,
                this::connect,
                (client, recorder) -> {
                    PilafRaceClient racing = new PilafRaceClient(client, recorder, values(), random(), settings);
                    if (reading) {
                        racing.read();
                    } else {
                        racing.write(() -> readers > 0);
                    }
                },
                () -> readers -= reading ? 1 : 0);
    }

    private StoreClient connect(VerbsDevice device) {
        return design.connect(
                device,
                common(FabricStores.client(fabric(), server), VALUE, settings.mayLoseAnswers(), TIMEOUT_NS)
                        .protocol(settings.protocol())
                        .conclude());
    }
}
