package org.softrdma.bench.server;

import static org.softrdma.bench.server.LineConnection.ascii;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.MixPairs;

/** Speaks memcached's text protocol, and the first line of ours for RDMA. */
public final class MemcachedAdmin implements ServerAdmin {
    private static final int HELLO_WORDS = 7;
    private static final int REGISTRATION_WORD = 5;

    private final LineConnection connection;

    public MemcachedAdmin(InetSocketAddress server) {
        connection = new LineConnection(server);
    }

    /**
     * Connects in TLS.
     *
     * @param server its address
     * @param certificate what the server shows
     */
    public MemcachedAdmin(InetSocketAddress server, ServerCertificate certificate) {
        connection = new LineConnection(server, certificate.socket());
    }

    @Override
    public String version() {
        return connection.ask("version").replaceFirst("^VERSION ", "");
    }

    @Override
    public void insert(MixPairs pairs) {
        byte[] header = ascii(" 0 0 " + pairs.valueLength() + "\r\n");
        for (int i = 0; i < pairs.size(); i++) {
            String answer = connection.ask(ascii("set "), pairs.key(i), header, pairs.value(i), ascii("\r\n"));
            if (!answer.equals("STORED")) {
                throw new MeasurementException(
                        "cannot store " + pairs.valueLength() + " bytes: the server answered " + answer);
            }
        }
    }

    @Override
    public Optional<CpuTime> cpuTime() {
        Map<String, String> all = stats("");
        String user = all.get("rusage_user");
        String system = all.get("rusage_system");
        return user == null || system == null ? Optional.empty() : Optional.of(CpuTime.ofSeconds(user, system));
    }

    /** The statistics of one kind, by name. */
    public Map<String, String> stats(String kind) {
        Map<String, String> all = new HashMap<>();
        String line = connection.ask(kind.isEmpty() ? "stats" : "stats " + kind);
        for (; line.startsWith("STAT "); line = connection.readLine()) {
            String[] words = line.split(" ", 3);
            all.put(words[1], words.length > 2 ? words[2] : "");
        }
        return all;
    }

    /** READs that the server's device has served so far, as it counts them itself. */
    public long responderReads() {
        return Long.parseLong(stats("rdma").getOrDefault("device_responderReads", "0"));
    }

    /** The name of the server's device, such as {@code sim0_(uring,_engine)}; empty if it has none. */
    public String device() {
        return stats("rdma").getOrDefault("device", "");
    }

    /** True if the server knows meta get. */
    public boolean knowsMetaGet() {
        return connection.ask("mg wimpy:no-such-key v").equals("EN");
    }

    /** How the server registers memory: {@code arena}, {@code chunk}; empty if it knows no RDMA. */
    public Optional<String> registration() {
        String[] words = connection.ask("rdma hello 2").split(" ", -1);
        return words.length == HELLO_WORDS && words[0].equals("RDMA")
                ? Optional.of(words[REGISTRATION_WORD])
                : Optional.empty();
    }

    @Override
    public void close() {
        connection.close();
    }
}
