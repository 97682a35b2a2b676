package org.softrdma.stores.herd;

import org.softrdma.fabric.FabricSettings;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;

/** The designs whose servers and clients are those of HERD. */
enum HerdForm {
    HERD(Protocol.SAFE),
    HERD_AS_PUBLISHED(Protocol.PAPER),
    NESSIE_SD(Protocol.SAFE);

    private final Protocol protocol;

    HerdForm(Protocol protocol) {
        this.protocol = protocol;
    }

    /** A run with few pairs. */
    HerdRun run(long seed) {
        return this == NESSIE_SD
                ? HerdRun.nessieSd(seed, FabricSettings.DEFAULT, true)
                : new HerdRun(seed, FabricSettings.DEFAULT, protocol, true);
    }

    HerdRun run() {
        return run(7);
    }

    Promises promises() {
        return (this == NESSIE_SD ? new NessieSdDesign() : new HerdDesign()).promises(protocol);
    }
}
