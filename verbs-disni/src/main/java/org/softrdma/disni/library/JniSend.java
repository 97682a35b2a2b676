package org.softrdma.disni.library;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.util.LinkedList;
import java.util.List;
import org.softrdma.disni.library.DisniLibrary.PreparedSend;

/** A stateful call whose setters are looked up once, so that posting allocates nothing. One thread at a time. */
final class JniSend implements PreparedSend {
    private final SVCPostSend call;
    private final SVCPostSend.SendWRMod request;
    private final SVCPostSend.RdmaMod remote;
    private final SVCPostSend.SgeMod[] entries;

    JniSend(IbvQP queuePair, int opcode, int entryCount) throws IOException {
        IbvSendWR prototype = new IbvSendWR();
        prototype.setOpcode(opcode);
        prototype.setSg_list(emptyEntries(entryCount));
        call = queuePair.postSend(List.of(prototype), List.of());
        request = call.getWrMod(0);
        remote = request.getRdmaMod();
        entries = new SVCPostSend.SgeMod[entryCount];
        for (int i = 0; i < entryCount; i++) {
            entries[i] = request.getSgeMod(i);
        }
    }

    /** Entries to be filled in later; DiSNI accepts this class only. */
    @SuppressWarnings({"NonApiType", "JdkObsolete"})
    static LinkedList<IbvSge> emptyEntries(int count) {
        LinkedList<IbvSge> entries = new LinkedList<>();
        for (int i = 0; i < count; i++) {
            entries.add(new IbvSge());
        }
        return entries;
    }

    @Override
    public void request(long wrId, int flags, long remoteAddress, int rkey) {
        request.setWr_id(wrId);
        request.setSend_flags(flags);
        remote.setRemote_addr(remoteAddress);
        remote.setRkey(rkey);
    }

    @Override
    public void entry(int index, long address, int length, int lkey) {
        SVCPostSend.SgeMod entry = entries[index];
        entry.setAddr(address);
        entry.setLength(length);
        entry.setLkey(lkey);
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
