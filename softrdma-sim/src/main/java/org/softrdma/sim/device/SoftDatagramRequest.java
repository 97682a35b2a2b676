package org.softrdma.sim.device;

import java.net.InetSocketAddress;
import java.util.function.IntConsumer;
import org.softrdma.sim.link.PeerQuestion;
import org.softrdma.sim.queue.Progress;
import org.softrdma.verbs.cm.DatagramRequest;
import org.softrdma.verbs.cm.DatagramService;

/** A peer's question, as the application sees it. Any thread. */
final class SoftDatagramRequest implements DatagramRequest {
    private static final byte[] NO_DATA = {};

    private final Progress progress;
    private final IntConsumer checkLength;
    private final PeerQuestion question;

    SoftDatagramRequest(Progress progress, IntConsumer checkLength, PeerQuestion question) {
        this.progress = progress;
        this.checkLength = checkLength;
        this.question = question;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return question.remoteAddress();
    }

    @Override
    public byte[] privateData() {
        return question.privateData();
    }

    @Override
    public void accept(DatagramService offered) {
        progress.checkThread();
        checkLength.accept(offered.privateData().length);
        require(question.accept(offered));
    }

    @Override
    public void reject(byte[] privateData) {
        progress.checkThread();
        checkLength.accept(privateData.length);
        require(question.reject(privateData));
    }

    private static void require(boolean first) {
        if (!first) {
            throw new IllegalStateException("this question was already accepted, rejected or closed");
        }
    }

    @Override
    public void close() {
        boolean ignored = question.reject(NO_DATA);
    }
}
