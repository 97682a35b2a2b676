package org.softrdma.bench.study;

import java.util.ArrayList;
import java.util.List;

/**
 * Where servers and load run.
 *
 * @param load the core of the load; negative for any
 * @param servers cores for servers, the first of which one-core rows use; empty for any
 */
public record Cores(int load, List<Integer> servers) {
    /** Copies the list. */
    public Cores {
        servers = List.copyOf(servers);
    }

    /**
     * The first core for the load, the others for the servers; one for both cannot be told apart.
     *
     * @param available cores of the machine
     */
    public static Cores of(int available) {
        List<Integer> servers = new ArrayList<>();
        for (int core = 1; core < available; core++) {
            servers.add(core);
        }
        return new Cores(servers.isEmpty() ? -1 : 0, servers);
    }
}
