package org.softrdma.stores.nessie;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FaultsBySeed;
import org.softrdma.fabric.FaultsBySeed.Kind;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.race.StoreRace;
import org.softrdma.verbs.device.VerbsDevice;

/** Clients that change and get the same few keys of a store of one to three nodes. */
final class NessieRace extends StoreRace {
    private static final int VALUE = 96;
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final List<String> CLIENTS = List.of("reader1", "reader2", "writer1", "writer2", "writer3");
    private static final List<Kind> KINDS = List.of(
            Kind.KILL,
            Kind.KILL,
            Kind.POWER_OFF,
            Kind.PAUSE_CLIENT,
            Kind.PAUSE_CLIENT,
            Kind.PAUSE_SERVER,
            Kind.PARTITION,
            Kind.STALL,
            Kind.CUT,
            Kind.CUT,
            Kind.RESET);

    private final NessieRaceSettings settings;
    private final NessieNodes nodes;
    private final FabricNode judge;
    private final List<FabricNode> clients = new ArrayList<>();
    private int readers;

    NessieRace(NessieRaceSettings settings) {
        super(settings.seed(), settings.faulty() ? faults(settings.nodes()).plan(settings.seed()) : FaultPlan.NONE);
        this.settings = settings;
        nodes = new NessieNodes(
                fabric(),
                settings.nodes(),
                settings.protocol(),
                settings.serverOptions(),
                context -> common(context, VALUE));
        CLIENTS.forEach(name -> clients.add(fabric().node(name)));
        judge = fabric().node("judge");
    }

    /** Behind the handshake. The only node is there twice: seeds expect that a node is drawn. */
    private static FaultsBySeed faults(int nodes) {
        List<String> servers = IntStream.range(0, Math.max(2, nodes))
                .mapToObj(node -> NessieNodes.name(node % nodes))
                .toList();
        return new FaultsBySeed(CLIENTS, servers, 3, 300, 4000, KINDS);
    }

    /** Races; throws if what was seen contradicts itself, or if anything fails. */
    NessieRace run() {
        fabric().run(judge, () -> {
            nodes.start();
            startProcesses();
            for (int i = 0; i < settings.crashes(); i++) {
                fabric().scheduler().sleep(random().nextLong(TimeUnit.MILLISECONDS.toNanos(2)));
                nodes.crash(0);
                values().died();
            }
            awaitClients();
            nodes.stop();
        });
        judge(settings.crashes() > 0);
        return this;
    }

    private void startProcesses() {
        readers = 1 + random().nextInt(2);
        for (int i = readers; i > 0; i--) {
            start(i - 1, true);
        }
        for (int i = 2 + random().nextInt(2); i > 0; i--) {
            start(1 + i, false);
        }
    }

    private void start(int client, boolean reading) {
        start(
                clients.get(client),
                CLIENTS.get(client),
                device -> connect(device, client),
                (store, recorder) -> {
                    NessieRaceClient racing = new NessieRaceClient(store, recorder, values(), random(), settings);
                    if (reading) {
                        racing.read();
                    } else {
                        racing.write(() -> readers > 0);
                    }
                },
                () -> readers -= reading ? 1 : 0);
    }

    private StoreClient connect(VerbsDevice device, int client) {
        return new NessieDesign()
                .connect(
                        device,
                        common(nodes.client(), VALUE, settings.mayLoseAnswers(), TIMEOUT_NS)
                                .options(settings.clientOptions(client))
                                .conclude());
    }
}
