package org.softrdma.stores;

import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/** Finds designs. Any thread. */
public final class StoreDesigns {
    private StoreDesigns() {}

    /** All designs on the class path. */
    public static List<StoreDesign> all() {
        return ServiceLoader.load(StoreDesign.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
    }

    /**
     * A design.
     *
     * @throws IllegalArgumentException if there is none; the message names those that are there
     */
    public static StoreDesign named(String name) {
        return all().stream()
                .filter(design -> design.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("design " + name + ": expected one of "
                        + all().stream().map(StoreDesign::name).collect(Collectors.joining(", "))));
    }
}
