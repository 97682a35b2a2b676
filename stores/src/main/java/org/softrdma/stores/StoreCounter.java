package org.softrdma.stores;

/** What clients and servers of all designs count. A design leaves at 0 what it does not do. */
public enum StoreCounter {
    /** READs posted. */
    READS,
    /** Bytes asked for by READs. */
    READ_BYTES,
    /** WRITEs posted. */
    WRITES,
    /** SENDs posted. */
    SENDS,
    /** Compare-and-swaps and fetch-and-adds posted. */
    ATOMICS,
    /** Waits for the network, one after the other: what is posted together counts once. */
    ROUND_TRIPS,
    /** Places of the index that were looked at. */
    PROBES,
    /** Entries of the index read again because they were seen half written. */
    ENTRY_RETRIES,
    /** Data read again because it did not fit the entry that led to it. */
    EXTENT_RETRIES,
    /** Objects read again because the versions of their lines differed. */
    LINE_RETRIES,
    /** Buckets read again because their joint versions differed. */
    JOINT_RETRIES,
    /** Lookups begun again because an object had a new incarnation. */
    INCARNATION_RESTARTS,
    /** Lookups or changes begun again because somebody else changed the same key or place. */
    CONFLICTS,
    /** Misses that were looked at once more. */
    CONFIRMS,
    /** Lookups that a cache of places spared. */
    CACHE_HITS,
    /** READs of data that a fingerprint or filter spared. */
    FILTER_SKIPS,
    /** Operations that were handed to the server after too many retries. */
    HANDED_OVER,
    /** Operations that got no answer in time. */
    TIMEOUTS,
    /** Requests that came, or were sent, once more. */
    DUPLICATES,
    /** Torn data that the design's own check would have accepted. */
    TORN_UNSEEN,
    /** Connections made again. */
    RECONNECTS
}
