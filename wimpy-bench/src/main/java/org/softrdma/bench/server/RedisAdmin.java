package org.softrdma.bench.server;

import static org.softrdma.bench.server.LineConnection.ascii;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.MixPairs;

/** Speaks RESP, version 2. */
public final class RedisAdmin implements ServerAdmin {
    private final LineConnection connection;

    public RedisAdmin(InetSocketAddress server) {
        connection = new LineConnection(server);
    }

    @Override
    public String version() {
        return info("server").getOrDefault("redis_version", "of unknown version");
    }

    @Override
    public void insert(MixPairs pairs) {
        for (int i = 0; i < pairs.size(); i++) {
            byte[] key = pairs.key(i);
            String answer = connection.ask(
                    ascii("*3\r\n$3\r\nSET\r\n$" + key.length + "\r\n"),
                    key,
                    ascii("\r\n$" + pairs.valueLength() + "\r\n"),
                    pairs.value(i),
                    ascii("\r\n"));
            if (!answer.equals("+OK")) {
                throw new MeasurementException(
                        "cannot store " + pairs.valueLength() + " bytes: the server answered " + answer);
            }
        }
    }

    @Override
    public Optional<CpuTime> cpuTime() {
        Map<String, String> cpu = info("cpu");
        String user = cpu.get("used_cpu_user");
        String system = cpu.get("used_cpu_sys");
        return user == null || system == null ? Optional.empty() : Optional.of(CpuTime.ofSeconds(user, system));
    }

    /** Bytes that redis says its pairs take, with all that belongs to them. */
    public long dataBytes() {
        return Long.parseLong(info("memory").getOrDefault("used_memory_dataset", "0"));
    }

    /** One section of INFO, by name. The bulk string that carries it is counted with the ends of its lines. */
    private Map<String, String> info(String section) {
        String header = connection.ask("INFO " + section);
        if (!header.matches("\\$\\d{1,6}")) {
            throw new MeasurementException("redis answered INFO with " + header);
        }
        int left = Integer.parseInt(header.substring(1));
        Map<String, String> all = new HashMap<>();
        while (left > 0) {
            String line = connection.readLine();
            left -= line.length() + "\r\n".length();
            int colon = line.indexOf(':');
            if (colon > 0) {
                all.put(line.substring(0, colon), line.substring(colon + 1));
            }
        }
        connection.readLine(); // the end of the bulk string
        return all;
    }

    @Override
    public void close() {
        connection.close();
    }
}
