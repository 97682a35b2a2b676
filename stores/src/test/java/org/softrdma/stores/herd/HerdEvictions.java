package org.softrdma.stores.herd;

import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.softrdma.stores.herd.mica.MicaPairs;
import org.softrdma.stores.herd.mica.MicaWatcher;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;

/**
 * Writes into a history which pairs are evicted: each is a removal by somebody else, at that instant. What leaves the log
 * is computed here, from the positions and lengths of what is appended, and not asked of the table: one that forgets
 * too early would be believed.
 */
final class HerdEvictions implements MicaWatcher {
    private final ProcessRecorder<StoreCall, StoreAnswer> history;
    private final Map<MicaPairs, Map<String, Long>> positions = new HashMap<>();
    private long fromIndex;
    private long fromLog;

    HerdEvictions(ProcessRecorder<StoreCall, StoreAnswer> history) {
        this.history = history;
    }

    private Map<String, Long> of(MicaPairs pairs) {
        return positions.computeIfAbsent(pairs, ignored -> new HashMap<>());
    }

    private static String key(MicaPairs pairs, long position) {
        return new String(
                pairs.memory()
                        .asSlice(pairs.keyAt(position), pairs.keyLength(position))
                        .toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.US_ASCII);
    }

    /** Bytes of a pair in the log: whole words. */
    private static long length(MicaPairs pairs, long position) {
        long begin = position & pairs.memory().byteSize() - 1;
        long length = pairs.valueAt(position) + pairs.valueLength(position) - begin;
        return length + Long.BYTES - 1 & -Long.BYTES;
    }

    @Override
    public void appended(MicaPairs pairs, long position) {
        Map<String, Long> known = of(pairs);
        String key = key(pairs, position);
        known.put(key, position);
        long end = position + length(pairs, position);
        long capacity = pairs.memory().byteSize();
        Iterator<Map.Entry<String, Long>> others = known.entrySet().iterator();
        while (others.hasNext()) {
            Map.Entry<String, Long> other = others.next();
            if (end - other.getValue() > capacity) {
                others.remove();
                fromLog++;
                lost(other.getKey());
            }
        }
    }

    @Override
    public void evicted(MicaPairs pairs, long position) {
        String key = key(pairs, position);
        of(pairs).remove(key);
        fromIndex++;
        lost(key);
    }

    @Override
    public void removed(MicaPairs pairs, long position) {
        of(pairs).remove(key(pairs, position));
    }

    private void lost(String key) {
        history.returned(history.invoke(key, StoreCall.delete()), StoreAnswer.DONE);
    }

    /** Pairs that lost their index entry. */
    long fromIndex() {
        return fromIndex;
    }

    /** Pairs that lost their place in the log. */
    long fromLog() {
        return fromLog;
    }
}
