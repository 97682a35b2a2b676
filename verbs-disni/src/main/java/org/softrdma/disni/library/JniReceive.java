package org.softrdma.disni.library;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.impl.NatIbvRecvWR;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.softrdma.disni.library.DisniLibrary.PreparedReceive;

/**
 * A stateful call whose {@code ibv_recv_wr} is rewritten in place: DiSNI has no setters for it, so otherwise every RECV
 * would create and free a call. One thread at a time.
 *
 * <pre>
 *   native order; DiSNI lays it out, this class writes the number and the entries, the driver reads
 *   0   wr_id                       8
 *   8   next                        8
 *   16  sg_list                     8   the address of the first entry
 *   24  num_sge                     4
 *   32  entries: address 8, length 4, lkey 4, each
 * </pre>
 */
@SuppressWarnings("restricted")
final class JniReceive implements PreparedReceive {
    private static final int ENTRY_ADDRESS = 0;
    private static final int ENTRY_LENGTH = ENTRY_ADDRESS + Long.BYTES;
    private static final int ENTRY_LKEY = ENTRY_LENGTH + Integer.BYTES;
    private static final int ENTRY_BYTES = ENTRY_LKEY + Integer.BYTES;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    private final SVCPostRecv call;
    private final MemorySegment request;
    private final MemorySegment entries;

    JniReceive(IbvQP queuePair, int entryCount) throws IOException {
        IbvRecvWR prototype = new IbvRecvWR();
        prototype.setSg_list(JniSend.emptyEntries(entryCount));
        call = queuePair.postRecv(List.of(prototype), List.of());
        // Without entries DiSNI lets the list begin where the request does.
        long list = ((NatIbvRecvWR) call.getWrMod(0)).getPtr_sge_list();
        long first = entryCount == 0 ? list : list - NatIbvRecvWR.CSIZE;
        request = MemorySegment.ofAddress(first).reinterpret(NatIbvRecvWR.CSIZE);
        entries = MemorySegment.ofAddress(list).reinterpret((long) entryCount * ENTRY_BYTES);
    }

    @Override
    public void request(long wrId) {
        request.set(LONG, 0, wrId);
    }

    @Override
    public void entry(int index, long address, int length, int lkey) {
        long at = (long) index * ENTRY_BYTES;
        entries.set(LONG, at + ENTRY_ADDRESS, address);
        entries.set(INT, at + ENTRY_LENGTH, length);
        entries.set(INT, at + ENTRY_LKEY, lkey);
    }

    @Override
    public void execute() throws IOException {
        call.execute();
    }

    @Override
    public void free() {
        call.free();
    }
}
