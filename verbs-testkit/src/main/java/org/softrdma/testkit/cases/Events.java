package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.softrdma.testkit.Node;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.verbs.AsyncEvent;

/** The events of one device. The thread of the case reads them. */
final class Events {
    /** Long enough for an event that is wrong to come. */
    private static final long LINGER_NS = 20_000_000;

    private final TwoNodes nodes;
    private final Node node;
    private final List<AsyncEvent> taken = new ArrayList<>();

    /** Those that have come before are not told. */
    Events(TwoNodes nodes, Node node) {
        this.nodes = nodes;
        this.node = node;
        take();
        taken.clear();
    }

    /** Waits for an event; events of other objects may come before and after it. */
    void expect(AsyncEvent expected) {
        nodes.await(expected + " of the " + node.name() + ", which has told " + taken, () -> {
            take();
            return taken.contains(expected);
        });
        taken.remove(expected);
    }

    /** Fails if the event comes, or has come. */
    void expectNo(AsyncEvent unexpected, String why) {
        nodes.linger(LINGER_NS);
        take();
        assertEquals(0, taken.stream().filter(unexpected::equals).count(), unexpected + ": " + why);
    }

    private void take() {
        for (Optional<AsyncEvent> event = next(); event.isPresent(); event = next()) {
            taken.add(event.get());
        }
    }

    private Optional<AsyncEvent> next() {
        return node.device().awaitEvent(0);
    }
}
