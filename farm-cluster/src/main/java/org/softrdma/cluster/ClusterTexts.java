package org.softrdma.cluster;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.PlacementPolicy;

/** What nodes in ZooKeeper say: text that people can read, {@code key=value} separated by blanks, UTF-8. */
final class ClusterTexts {
    private ClusterTexts() {}

    static byte[] encode(Map<String, ?> values) {
        return values.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" "))
                .getBytes(StandardCharsets.UTF_8);
    }

    /** The values; none if a key is missing. */
    static Map<String, String> decode(byte[] text, Collection<String> keys) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String word : new String(text, StandardCharsets.UTF_8).split(" ", -1)) {
            int equals = word.indexOf('=');
            if (equals > 0) {
                values.put(word.substring(0, equals), word.substring(equals + 1));
            }
        }
        if (!values.keySet().containsAll(keys)) {
            throw new ClusterException("a node of ZooKeeper says '" + new String(text, StandardCharsets.UTF_8)
                    + "': expected values of " + keys + "; it was written by something else than this version");
        }
        return values;
    }

    static byte[] announced(InetSocketAddress address, boolean memory) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("host", address.getAddress().getHostAddress());
        values.put("port", address.getPort());
        values.put("memory", memory);
        return encode(values);
    }

    static ClusterView.Machine announced(byte[] text) {
        Map<String, String> values = decode(text, Set.of("host", "port", "memory"));
        return new ClusterView.Machine(
                new InetSocketAddress(values.get("host"), Integer.parseInt(values.get("port"))),
                Boolean.parseBoolean(values.get("memory")));
    }

    static byte[] policy(PlacementPolicy policy) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("removed", list(policy.removed()));
        values.put("drained", list(policy.drained()));
        values.put("balanced", policy.balanced());
        return encode(values);
    }

    static PlacementPolicy policy(byte[] text) {
        if (text.length == 0) {
            return PlacementPolicy.NONE;
        }
        Map<String, String> values = decode(text, Set.of("removed", "drained", "balanced"));
        return new PlacementPolicy(
                set(values.get("removed")), set(values.get("drained")), Boolean.parseBoolean(values.get("balanced")));
    }

    private static String list(Set<Integer> machines) {
        return new TreeSet<>(machines).stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static Set<Integer> set(@Nullable String list) {
        return list == null || list.isEmpty()
                ? Set.of()
                : Arrays.stream(list.split(",", -1)).map(Integer::valueOf).collect(Collectors.toSet());
    }

    static byte[] number(int value) {
        return String.valueOf(value).getBytes(StandardCharsets.UTF_8);
    }

    static int number(byte[] text) {
        return text.length == 0 ? 0 : Integer.parseInt(new String(text, StandardCharsets.UTF_8));
    }
}
