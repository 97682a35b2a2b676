package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;

/** Engines raise completion events with what there was when the queues were armed: there may be no memory then. */
class CompletionChannelRoomTest {
    private static final int QUEUES = 100;

    private final Progress engine = new ThreadedProgress();
    private final RecordingSource source = new RecordingSource(7);

    private void push(SoftCompletionQueue queue) {
        queue.push(source, 1, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 1, 0, 0, false);
    }

    @Test
    void shouldRaiseTheEventsOfArmedQueuesWithoutMemory() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (SoftCompletionChannel channel = new SoftCompletionChannel(engine, () -> {})) {
            List<SoftCompletionQueue> queues = new ArrayList<>();
            for (int i = 0; i < QUEUES; i++) {
                queues.add(new SoftCompletionQueue(4, engine, channel, () -> {}));
            }
            SoftCompletionQueue first = queues.getFirst();
            first.requestNotification(false);
            push(first); // so that nothing below happens for the first time
            assertTrue(channel.await(0).isPresent());
            first.acknowledgeEvents(1);
            queues.forEach(queue -> queue.requestNotification(false));

            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < QUEUES; i++) {
                push(queues.get(i));
            }
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;

            assertEquals(0, allocated);
            for (SoftCompletionQueue queue : queues) {
                assertEquals(queue, channel.await(0).orElseThrow());
                queue.acknowledgeEvents(1);
            }
            queues.forEach(SoftCompletionQueue::close);
        }
    }
}
