package org.softrdma.kv.client;

/** Takes the results of READs that {@link KvClient#start} started. */
@FunctionalInterface
public interface ReadHandler {
    /**
     * Called once per READ.
     *
     * @param tag as given to {@link KvClient#start}
     * @param outcome if this is not HIT, ask with {@link KvClient#get}, but not from within this call
     * @param item the item, of a HIT only
     */
    void onRead(long tag, ReadOutcome outcome, RemoteItem item);
}
