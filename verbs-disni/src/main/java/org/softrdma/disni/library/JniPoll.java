package org.softrdma.disni.library;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import java.io.IOException;
import org.softrdma.disni.library.DisniLibrary.PreparedPoll;

/**
 * A stateful call with memory for exactly as many completions as it polls for: more would overrun it. One thread at a
 * time.
 */
final class JniPoll implements PreparedPoll {
    private final IbvWC[] completions;
    private final SVCPollCq call;

    JniPoll(IbvCQ queue, int entries) throws IOException {
        completions = new IbvWC[entries];
        for (int i = 0; i < entries; i++) {
            completions[i] = new IbvWC();
        }
        call = queue.poll(completions, entries);
    }

    @Override
    public int execute() throws IOException {
        return call.execute().getPolls();
    }

    @Override
    public long wrId(int index) {
        return completions[index].getWr_id();
    }

    @Override
    public int status(int index) {
        return completions[index].getStatus();
    }

    @Override
    public int opcode(int index) {
        return completions[index].getOpcode();
    }

    @Override
    public int byteLength(int index) {
        return completions[index].getByte_len();
    }

    @Override
    public void free() {
        call.free();
    }
}
