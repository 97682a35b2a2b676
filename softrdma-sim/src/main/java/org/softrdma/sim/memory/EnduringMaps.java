package org.softrdma.sim.memory;

import java.util.Map;

/** Maps that outlive a moment without memory. */
public final class EnduringMaps {
    private EnduringMaps() {}

    /**
     * Gives an empty map its table. A map that finds no memory for its first one gets another one later, whose size is no
     * power of two: it loses entries when it grows (HashMap.resize). Further growth may fail, and is tried again.
     *
     * @param empty a {@link java.util.HashMap} or {@link java.util.LinkedHashMap}
     * @return the same map
     */
    @SuppressWarnings("unchecked") // it is empty again
    public static <K, V> Map<K, V> withTable(Map<K, V> empty) {
        Map<Object, Object> map = (Map<Object, Object>) (Map<?, ?>) empty;
        map.put(Map.class, Map.class);
        map.clear();
        return empty;
    }
}
