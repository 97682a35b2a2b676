package org.softrdma.kv.client;

/** Whether a READ was started. */
public enum StartStatus {
    /** It was; its result will be delivered. */
    STARTED,
    /** It is not known where the item is; {@link KvClient#get} finds out. */
    UNKNOWN,
    /** As many READs as the window allows are outstanding. */
    WINDOW_FULL
}
