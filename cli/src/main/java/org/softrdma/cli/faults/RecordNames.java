package org.softrdma.cli.faults;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;

/** What records and their fields are called in JSON, and which fields may be left out. Immutable. */
final class RecordNames {
    /** The field that says which of the records of a sealed interface an object is. */
    static final String TYPE = "type";

    /** A time that does not end. */
    static final String FOREVER = "forever";

    /** Values of fields that may be left out. */
    private static final Map<String, Object> USUAL = Map.of(
            "from", When.ANY,
            "to", When.ANY,
            "connection", When.EACH,
            "number", When.EACH,
            "perMille", Fault.ALWAYS,
            "times", 1,
            "skipped", 0);

    private RecordNames() {}

    /** The value of a field that is left out; null if it may not be. */
    static @Nullable Object usual(String field) {
        return USUAL.get(field);
    }

    /** True if a value is a time that does not end. */
    static boolean isForever(Object value) {
        return value.equals(What.FOREVER);
    }

    /** The type of a record: its name, beginning small. */
    static String type(Class<?> record) {
        String name = record.getSimpleName();
        return name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
    }

    /** The records of a sealed interface by their types. */
    static Map<String, Class<?>> types(Class<?> sealed) {
        Map<String, Class<?>> types = new TreeMap<>();
        for (Class<?> permitted : sealed.getPermittedSubclasses()) {
            if (permitted.isRecord()) {
                types.put(type(permitted), permitted);
            } else {
                types.putAll(types(permitted));
            }
        }
        return types;
    }
}
