package org.softrdma.farm.memory;

/** Where in a change of objects a peer may look. */
enum ObjectStep {
    /** An object is locked; readers may take it. */
    LOCKED,
    /** An object is locked against readers. */
    LOCKED_FOR_WRITING,
    /** The version of one line is written. */
    LINE_WRITTEN,
    /** An object has its next version. */
    UNLOCKED
}
