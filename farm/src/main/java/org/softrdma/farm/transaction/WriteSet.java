package org.softrdma.farm.transaction;

import java.util.List;

/**
 * What a message says that a transaction writes.
 *
 * @param regions all regions that it writes, on whatever machine: recovery needs them
 * @param entries what the receiver is told to write
 * @param end where the message goes on behind the entries
 */
record WriteSet(List<Integer> regions, List<WriteEntry> entries, int end) {
    /** Of a message that does not have what it says. */
    static final WriteSet NONE = new WriteSet(List.of(), List.of(), 0);
}
