package org.softrdma.sim.device;

import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.PeerQuestion;
import org.softrdma.verbs.cm.DatagramRequest;
import org.softrdma.verbs.cm.DatagramRequestListener;

/** Lets a service of datagrams be found, if its application says so. */
final class SoftDatagramRequestListener extends SoftDatagramListener implements DatagramRequestListener {
    private static final byte[] NO_DATA = {};

    private final PeerQueue<PeerQuestion> questions;
    private final Function<PeerQuestion, DatagramRequest> shown;

    /**
     * Not open yet.
     *
     * @param engine the first one
     * @param backlog questions that may wait for the application
     * @param checkLength refuses private data that is too long
     * @param onClose called once on close
     */
    SoftDatagramRequestListener(RnicEngine engine, int backlog, IntConsumer checkLength, Runnable onClose) {
        super(engine, onClose);
        questions = new PeerQueue<>(engine, backlog, "a question for datagrams");
        shown = question -> new SoftDatagramRequest(engine, checkLength, question);
    }

    /** A peer asks; false if there is no room, so that it asks again. */
    boolean asked(PeerQuestion question) {
        return questions.add(question);
    }

    @Override
    public Optional<DatagramRequest> next(long timeoutNs) {
        return questions.next(timeoutNs, shown);
    }

    @Override
    public void close() {
        questions.close(question -> {
            boolean ignored = question.reject(NO_DATA);
        });
        super.close();
    }
}
