package org.softrdma.kv.client.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.softrdma.kv.client.KvException;

/** What failed while several servers were asked; the others are asked all the same. Its caller's thread. */
final class ServerFailures {
    private final List<KvException> failures = new ArrayList<>();
    private int asked;

    ServerFailures() {}

    /**
     * Asks a server, or waits for its answer, and remembers if that failed.
     *
     * @param answers gets what it answers
     */
    <T> void ask(Supplier<T> server, List<T> answers) {
        asked++;
        try {
            answers.add(server.get());
        } catch (KvException e) {
            failures.add(e);
        }
    }

    /** Throws what failed: the one failure as it is, or all in one. */
    void throwIfAny() {
        if (failures.isEmpty()) {
            return;
        }
        KvException first = failures.getFirst();
        if (failures.size() == 1) {
            throw first;
        }
        KvException all = new KvException(
                failures.size() + " of " + asked + " servers failed: "
                        + failures.stream().map(KvException::getMessage).collect(Collectors.joining("; ")),
                first);
        failures.stream().skip(1).forEach(all::addSuppressed);
        throw all;
    }
}
