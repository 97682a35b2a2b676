package org.softrdma.sim.roce.cm;

/** What may be connected to. */
@FunctionalInterface
public interface CmService {
    /**
     * A peer asks for a connection. The owner calls {@link CmConnection#accept} or {@link CmConnection#reject}, now or later.
     *
     * @param connection in state {@link CmState#REQUEST_RECEIVED}
     * @return told what becomes of it
     */
    CmEvents requested(CmConnection connection);
}
