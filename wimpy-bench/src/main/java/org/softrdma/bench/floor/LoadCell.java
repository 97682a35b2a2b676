package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.softrdma.bench.cpu.AllocationMeter;
import org.softrdma.bench.cpu.CoreClock;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.cpu.ThreadClass;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.bench.read.ResponderProcess;

/**
 * One system under one load: runs rounds from rest to rest and keeps what each cost. The server is at rest before and after
 * a round, so that its clocks are exact. A system may be several processes that take turns round by round: no two JVMs
 * compile the same program to quite the same code. Belongs to the thread of its loads.
 *
 * <p>The names of figures say READ whatever the requests are: files of older versions have READs only, and {@code
 * ci/compare-builds} reads both.
 */
final class LoadCell {
    static final String CPU = "serverCpuMicrosPerRead";
    static final String CORE = "serverCoreMicrosPerRead";
    static final String RATE = "readsPerSecond";
    static final String CLIENT = "clientCpuMicrosPerRead";

    static final String SERVER_WAIT = "serverWaitedPercent";
    static final String CLIENT_WAIT = "clientWaitedPercent";

    private static final double PERCENT = 100;
    private static final double NS_PER_US = 1e3;
    private static final CpuClock OWN_CLOCK = CpuClock.ofThisProcess();
    private static final AllocationMeter ALLOCATION = new AllocationMeter();

    private final List<Server> servers;
    private final CoreClock cores;
    private final int window;
    private final long size;
    private final MedianOfRounds rounds = new MedianOfRounds();
    private final Map<ThreadClass, Long> byClassNs = new EnumMap<>(ThreadClass.class);
    private long requests;
    private long verified;
    private long clientBytes;
    private long serverBytesAtStart;
    private long serverBytes;

    /**
     * A process and the load connected to it.
     *
     * @param responder the process
     */
    record Server(ResponderProcess responder, RequestLoad load) {}

    LoadCell(List<Server> servers, CoreClock cores, int window, long size) {
        this.servers = List.copyOf(servers);
        this.cores = cores;
        this.window = window;
        this.size = size;
    }

    /** Runs each process without keeping figures. */
    void warmUp(long durationNs) {
        servers.forEach(server -> server.load().run(window, size, durationNs));
    }

    /** Begins to count the responder's allocation. */
    void startAllocation() {
        serverBytesAtStart = allocatedBytes();
    }

    /** Ends to count the responder's allocation. */
    void endAllocation() {
        serverBytes = allocatedBytes() - serverBytesAtStart;
    }

    private long allocatedBytes() {
        return servers.stream()
                .mapToLong(server -> server.responder().allocatedBytes())
                .sum();
    }

    /**
     * Runs a round.
     *
     * @param number which, from 0: chooses the process
     * @param durationNs how long
     */
    void round(int number, long durationNs) {
        ResponderProcess responder = servers.get(number % servers.size()).responder();
        RequestLoad load = servers.get(number % servers.size()).load();
        CpuClock.Sample serverBefore = responder.clock().sample();
        CpuClock.Sample clientBefore = OWN_CLOCK.sample();
        CoreClock.Sample coreBefore = cores.sample();
        long bytesBefore = ALLOCATION.ownBytes();
        RequestLoad.Outcome outcome = load.run(window, size, durationNs);
        long bytes = ALLOCATION.ownBytes() - bytesBefore;
        long coreNs = cores.sample().busyNsSince(coreBefore);
        CpuUse client = OWN_CLOCK.sample().since(clientBefore);
        CpuUse server = responder.clock().sample().since(serverBefore);
        rounds.add(CPU, server.microsPer(outcome.requests()));
        rounds.add(CORE, coreNs / NS_PER_US / outcome.requests());
        rounds.add(RATE, outcome.perSecond());
        rounds.add(CLIENT, client.microsPer(outcome.requests()));
        rounds.add(SERVER_WAIT, PERCENT * server.waitNs() / outcome.elapsedNs());
        rounds.add(CLIENT_WAIT, PERCENT * client.waitNs() / outcome.elapsedNs());
        server.byClassNs().forEach((threadClass, ns) -> byClassNs.merge(threadClass, ns, Long::sum));
        requests += outcome.requests();
        verified += outcome.verified();
        clientBytes += bytes;
    }

    double median(String name) {
        return rounds.median(name);
    }

    /** The median over the rounds of this cell's value by that of another. */
    double ratio(String name, LoadCell other) {
        return rounds.medianRatio(name, other.rounds);
    }

    long verified() {
        return verified;
    }

    double clientBytesPerRequest() {
        return requests == 0 ? 0 : (double) clientBytes / requests;
    }

    double serverBytesPerRequest() {
        return requests == 0 ? 0 : (double) serverBytes / requests;
    }

    /** Microseconds of the responder's CPU per request by class of thread. */
    Map<String, Double> classesMicros() {
        Map<String, Double> result = new java.util.LinkedHashMap<>();
        byClassNs.forEach((threadClass, ns) -> result.put(threadClass.label(), ns / NS_PER_US / requests));
        return result;
    }

    /** All figures of the cell. */
    ObjectNode json() {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode node = mapper.createObjectNode();
        node.put(CPU, median(CPU))
                .put(CORE, median(CORE))
                .put(RATE, median(RATE))
                .put(CLIENT, median(CLIENT))
                .put(SERVER_WAIT, median(SERVER_WAIT))
                .put(CLIENT_WAIT, median(CLIENT_WAIT))
                .put("serverHeapBytesPerRead", serverBytesPerRequest())
                .put("clientHeapBytesPerRead", clientBytesPerRequest())
                .put("verified", verified());
        node.set("serverCpuMicrosByThreadClass", mapper.valueToTree(classesMicros()));
        node.set("rounds", mapper.valueToTree(rounds.all()));
        return node;
    }
}
