package org.softrdma.stores.herd;

import java.util.concurrent.TimeUnit;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;

/** The designs whose servers and clients are those of HERD. */
enum HerdForm {
    HERD(Protocol.SAFE),
    HERD_AS_PUBLISHED(Protocol.PAPER),
    DATAGRAMS(Protocol.SAFE),
    DATAGRAMS_AS_PUBLISHED(Protocol.PAPER),
    NESSIE_SD(Protocol.SAFE);

    private final Protocol protocol;

    HerdForm(Protocol protocol) {
        this.protocol = protocol;
    }

    /** A run with few pairs. */
    HerdRun run(long seed) {
        return switch (this) {
            case HERD, HERD_AS_PUBLISHED -> new HerdRun(seed, FabricSettings.DEFAULT, protocol, true);
            case DATAGRAMS, DATAGRAMS_AS_PUBLISHED -> HerdRun.datagrams(seed, FabricSettings.DEFAULT, protocol);
            case NESSIE_SD -> HerdRun.nessieSd(seed, FabricSettings.DEFAULT, true);
        };
    }

    HerdRun run() {
        return run(7);
    }

    Promises promises() {
        return switch (this) {
            case HERD, HERD_AS_PUBLISHED -> new HerdRcDesign().promises(protocol);
            case DATAGRAMS, DATAGRAMS_AS_PUBLISHED -> new HerdDesign().promises(protocol);
            case NESSIE_SD -> new NessieSdDesign().promises(protocol);
        };
    }

    /** How long a server takes to learn that a client has left. */
    long noticeNs() {
        return losesSlots() ? TimeUnit.SECONDS.toNanos(40) : HerdRun.SECOND_NS;
    }

    /** True if a client loses its slots, and what is in them, when it has not been heard for some time. */
    boolean losesSlots() {
        return this == DATAGRAMS || this == DATAGRAMS_AS_PUBLISHED;
    }
}
