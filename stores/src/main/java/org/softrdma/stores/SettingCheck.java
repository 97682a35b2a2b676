package org.softrdma.stores;

import java.util.List;

/** Collects settings that are out of range. Stateless. */
final class SettingCheck {
    private SettingCheck() {}

    static void range(List<String> faults, String name, long value, long least, long most) {
        if (value < least || value > most) {
            faults.add(name + "=" + value + ": expected " + least + " to " + most);
        }
    }

    static void refuse(List<String> faults) {
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", faults));
        }
    }
}
