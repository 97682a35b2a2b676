package org.softrdma.stores;

/** Which form of a design runs. */
public enum Protocol {
    /** As published, including its flaws. The page of the design names them. */
    PAPER,
    /** Mended where the published protocol does not do what it claims, or relies on what verbs do not promise. */
    SAFE
}
