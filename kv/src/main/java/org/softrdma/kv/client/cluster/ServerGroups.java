package org.softrdma.kv.client.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.softrdma.kv.client.KvItem;

/** The keys of a get of many, by the servers that they live on, and the items in the order of the keys. */
final class ServerGroups {
    private final List<byte[]> keys;
    private final List<List<Integer>> positions = new ArrayList<>();

    /**
     * Groups keys.
     *
     * @param keys the keys; one may occur more than once
     * @param membership tells where each lives
     * @param servers how many there are
     */
    ServerGroups(List<byte[]> keys, Membership membership, int servers) {
        this.keys = keys;
        for (int i = 0; i < servers; i++) {
            positions.add(new ArrayList<>());
        }
        for (int i = 0; i < keys.size(); i++) {
            positions.get(membership.serverOf(keys.get(i))).add(i);
        }
    }

    /**
     * Asks every server that has some of the keys.
     *
     * @param ask gets the index of a server and its keys; what it returns is handed to {@link #items} in this order
     */
    <R> List<R> ask(BiFunction<Integer, List<byte[]>, R> ask) {
        List<R> asked = new ArrayList<>();
        for (int server = 0; server < positions.size(); server++) {
            if (!positions.get(server).isEmpty()) {
                asked.add(ask.apply(
                        server, positions.get(server).stream().map(keys::get).toList()));
            }
        }
        return asked;
    }

    /**
     * All items.
     *
     * @param answers of the servers that were asked, in their order
     * @return in the order of the keys
     */
    List<Optional<KvItem>> items(List<List<Optional<KvItem>>> answers) {
        List<Optional<KvItem>> items = new ArrayList<>(Collections.nCopies(keys.size(), Optional.empty()));
        int answer = 0;
        for (List<Integer> here : positions) {
            if (!here.isEmpty()) {
                for (int i = 0; i < here.size(); i++) {
                    items.set(here.get(i), answers.get(answer).get(i));
                }
                answer++;
            }
        }
        return List.copyOf(items);
    }
}
