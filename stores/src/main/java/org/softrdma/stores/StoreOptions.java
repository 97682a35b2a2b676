package org.softrdma.stores;

import java.util.Locale;
import java.util.Map;

/** Reads the options of a design, and refuses what it does not know. Immutable. */
public final class StoreOptions {
    private final Map<String, String> given;

    /**
     * Options.
     *
     * @param given names and values
     * @param known names and sentences about them
     * @throws IllegalArgumentException if one is not known; the message names those that are
     */
    public StoreOptions(Map<String, String> given, Map<String, String> known) {
        this.given = Map.copyOf(given);
        for (String name : given.keySet()) {
            if (!known.containsKey(name)) {
                throw new IllegalArgumentException("option " + name + ": expected one of " + known.keySet());
            }
        }
    }

    /** The text of an option. */
    public String text(String name, String usual) {
        return given.getOrDefault(name, usual);
    }

    /** The number of an option; {@code IllegalArgumentException} if it is none or out of range. */
    public long number(String name, long usual, long least, long most) {
        String text = given.get(name);
        if (text == null) {
            return usual;
        }
        long number;
        try {
            number = Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + "=" + text + ": expected a number", e);
        }
        if (number < least || number > most) {
            throw new IllegalArgumentException(name + "=" + text + ": expected " + least + " to " + most);
        }
        return number;
    }

    /** The choice of an option, in lower case; {@code IllegalArgumentException} if there is no such choice. */
    public <E extends Enum<E>> E choice(String name, E usual) {
        String text = given.get(name);
        if (text == null) {
            return usual;
        }
        Class<E> type = usual.getDeclaringClass();
        StringBuilder names = new StringBuilder();
        for (E choice : type.getEnumConstants()) {
            String choiceName = choice.name().toLowerCase(Locale.ROOT);
            if (choiceName.equals(text)) {
                return choice;
            }
            names.append(names.isEmpty() ? "" : ", ").append(choiceName);
        }
        throw new IllegalArgumentException(name + "=" + text + ": expected one of " + names);
    }

    /** An option that is {@code on} or {@code off}. */
    public boolean isOn(String name, boolean usual) {
        return choice(name, usual ? Switch.ON : Switch.OFF) == Switch.ON;
    }

    private enum Switch {
        ON,
        OFF
    }
}
