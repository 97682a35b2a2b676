package org.softrdma.kv.client;

/** Whether a READ was started. */
public enum StartStatus {
    /** It was; its result will be delivered. */
    STARTED,
    /** The location of the item is unknown; {@link KvClient#get} finds it. */
    UNKNOWN,
    /** As many READs as the window allows are outstanding. */
    WINDOW_FULL
}
