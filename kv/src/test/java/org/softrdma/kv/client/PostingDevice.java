package org.softrdma.kv.client;

import static org.mockito.AdditionalAnswers.delegatesTo;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** A device whose queue pairs say how long the lists are that are posted, and refuse one if they are told so. */
final class PostingDevice {
    private final VerbsDevice device;
    private final List<Integer> lists = new ArrayList<>();
    private @Nullable Throwable failure;

    PostingDevice(VerbsDevice real) {
        device = mock(VerbsDevice.class, delegatesTo(real));
        doAnswer(call -> connector(real.resolve(call.getArgument(0), call.getArgument(1))))
                .when(device)
                .resolve(any(), anyLong());
    }

    private Connector connector(Connector real) {
        Connector connector = mock(Connector.class, delegatesTo(real));
        doAnswer(call -> queuePair(real.createQueuePair(call.getArgument(0), call.getArgument(1))))
                .when(connector)
                .createQueuePair(any(), any());
        return connector;
    }

    private QueuePair queuePair(QueuePair real) {
        QueuePair queuePair = mock(QueuePair.class, delegatesTo(real));
        doAnswer(call -> {
                    SendWorkRequestList requests = call.getArgument(0);
                    Throwable thrown = failure;
                    if (thrown != null) {
                        failure = null;
                        throw thrown;
                    }
                    lists.add(requests.size());
                    return real.post(requests);
                })
                .when(queuePair)
                .post(any(SendWorkRequestList.class));
        return queuePair;
    }

    VerbsDevice device() {
        return device;
    }

    /** Lengths of the lists that were posted. */
    List<Integer> lists() {
        return lists;
    }

    /** The next list is refused by an exception or an error. */
    void failNext(Throwable thrown) {
        failure = thrown;
    }
}
