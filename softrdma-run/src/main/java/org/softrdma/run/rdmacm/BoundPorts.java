package org.softrdma.run.rdmacm;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.random.RandomGenerator;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/** Ports of ids, in the port spaces of rdma_cm: those of this run only. */
final class BoundPorts {
    private static final int FIRST_CHOSEN = 32_768;
    private static final int BEHIND_CHOSEN = 61_000;
    private static final int TRIALS = 1000;

    private final Collection<RdmaCmId> ids;
    private final RandomGenerator random;

    /**
     * The ports of some ids.
     *
     * @param ids a view of those that there are
     */
    BoundPorts(Collection<RdmaCmId> ids, RandomGenerator random) {
        this.ids = ids;
        this.random = random;
    }

    /**
     * Gives an id an address with a port.
     *
     * @param wanted port 0 for any
     */
    void bind(RdmaCmId id, InetSocketAddress wanted) throws CallRefusedException {
        if (wanted.getPort() != 0) {
            if (!isFree(id, wanted)) {
                throw new CallRefusedException(ErrorNumber.EADDRINUSE);
            }
            id.bind(wanted);
            return;
        }
        for (int i = 0; i < TRIALS; i++) {
            InetSocketAddress chosen =
                    new InetSocketAddress(wanted.getAddress(), random.nextInt(FIRST_CHOSEN, BEHIND_CHOSEN));
            if (isFree(id, chosen)) {
                id.bind(chosen);
                return;
            }
        }
        throw new CallRefusedException(ErrorNumber.EADDRNOTAVAIL);
    }

    /** Two that share their port must not both listen. */
    boolean isFree(RdmaCmId id, InetSocketAddress wanted) {
        return ids.stream().noneMatch(other -> isInTheWay(other, id, wanted));
    }

    private static boolean isInTheWay(RdmaCmId other, RdmaCmId id, InetSocketAddress wanted) {
        InetSocketAddress taken = other.source().orElse(null);
        return other != id
                && taken != null
                && other.hasPort()
                && other.portSpace() == id.portSpace()
                && taken.getPort() == wanted.getPort()
                && overlap(other, taken, id, wanted)
                && !(other.sharesPort() && id.sharesPort() && other.state() != RdmaCmId.State.LISTEN);
    }

    private static boolean overlap(RdmaCmId other, InetSocketAddress taken, RdmaCmId id, InetSocketAddress wanted) {
        boolean oneFamily =
                taken.getAddress().getClass().equals(wanted.getAddress().getClass());
        if (!oneFamily && (other.isOwnFamilyOnly() || id.isOwnFamilyOnly())) {
            return false;
        }
        return taken.getAddress().isAnyLocalAddress()
                || wanted.getAddress().isAnyLocalAddress()
                || taken.getAddress().equals(wanted.getAddress());
    }
}
