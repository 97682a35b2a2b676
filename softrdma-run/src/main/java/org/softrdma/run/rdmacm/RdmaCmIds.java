package org.softrdma.run.rdmacm;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/** All ids of a run, by their handles. */
final class RdmaCmIds {
    private final Map<Integer, RdmaCmId> all = new HashMap<>();
    private int lastHandle;

    /** A new one, {@link RdmaCmId}. */
    RdmaCmId create(CmChannel channel, long name, int portSpace) {
        RdmaCmId made = new RdmaCmId(++lastHandle, channel, name, portSpace);
        all.put(made.handle(), made);
        return made;
    }

    /**
     * The id of a channel with a handle.
     *
     * @throws CallRefusedException ENOENT if there is none, EINVAL if it is of another channel
     */
    RdmaCmId get(int handle, CmChannel channel) throws CallRefusedException {
        RdmaCmId found = all.get(handle);
        if (found == null) {
            throw new CallRefusedException(ErrorNumber.ENOENT);
        }
        if (found.channel() != channel) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        return found;
    }

    /** Takes one away, whose peers hear of it. */
    void remove(RdmaCmId id) {
        all.remove(id.handle());
        id.close();
    }

    /** Those whose events go to a channel. */
    List<RdmaCmId> of(CmChannel channel) {
        return all.values().stream().filter(id -> id.channel() == channel).toList();
    }

    /** A view of all. */
    Collection<RdmaCmId> all() {
        return Collections.unmodifiableCollection(all.values());
    }
}
