package org.softrdma.cli.faults;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serial;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.softrdma.fabric.fault.What;

/** Records from JSON: every field by its name and type, and no other. Any thread. */
final class RecordReader {
    private RecordReader() {}

    /** JSON that is not what was expected. */
    static final class MisfitException extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        private final String where;

        MisfitException(String where, String problem) {
            super((where.isEmpty() ? "at the top" : where) + ": " + problem);
            this.where = where;
        }

        /** The place of a field, such as {@code faults[2].when.ns}; empty for the whole. */
        String where() {
            return where;
        }
    }

    static <T extends Record> T read(JsonNode node, Class<T> type) {
        return type.cast(record(node, type, ""));
    }

    /** Checks what was read, by something that throws IllegalArgumentException. */
    static <T> void check(T value, Consumer<T> check, String where) {
        try {
            check.accept(value);
        } catch (IllegalArgumentException e) {
            throw new MisfitException(where, String.valueOf(e.getMessage()));
        }
    }

    private static Object record(JsonNode node, Class<?> type, String where) {
        requireObject(node, where);
        Set<String> known = new LinkedHashSet<>();
        List<Object> values = new ArrayList<>();
        for (RecordComponent component : type.getRecordComponents()) {
            known.add(component.getName());
            values.add(field(node, component, where));
        }
        node.fieldNames().forEachRemaining(name -> {
            if (!known.contains(name) && !(name.equals(RecordNames.TYPE) && isOneOfSeveral(type))) {
                throw new MisfitException(join(where, name), "unknown field: expected one of " + known);
            }
        });
        return construct(type, values, where);
    }

    private static boolean isOneOfSeveral(Class<?> type) {
        return Arrays.stream(type.getInterfaces()).anyMatch(Class::isSealed);
    }

    private static Object field(JsonNode node, RecordComponent component, String where) {
        String name = component.getName();
        JsonNode value = node.get(name);
        if (value != null) {
            return value(value, component.getGenericType(), join(where, name));
        }
        Object usual = RecordNames.usual(name);
        if (usual == null) {
            throw new MisfitException(where, "field \"" + name + "\" is missing: " + node);
        }
        return usual;
    }

    private static Object value(JsonNode node, Type type, String where) {
        if (type == int.class || type == long.class) {
            return number(node, type == int.class, where);
        }
        if (type == boolean.class) {
            return node.isBoolean() ? node.booleanValue() : misfit(node, "true or false", where);
        }
        if (type == String.class) {
            return node.isTextual() ? node.textValue() : misfit(node, "text", where);
        }
        if (type instanceof ParameterizedType list) {
            return list(node, list.getActualTypeArguments()[0], where);
        }
        Class<?> named = (Class<?>) type;
        if (named.isEnum()) {
            return constant(node, named, where);
        }
        return named.isRecord() ? record(node, named, where) : oneOf(node, named, where);
    }

    private static Object number(JsonNode node, boolean small, String where) {
        if (!small && node.isTextual() && node.textValue().equals(RecordNames.FOREVER)) {
            return What.FOREVER;
        }
        boolean fits = small ? node.canConvertToInt() : node.canConvertToLong();
        if (!node.isIntegralNumber() || !fits) {
            return misfit(node, "a whole number of " + (small ? Integer.SIZE : Long.SIZE) + " bits", where);
        }
        return small ? (Object) node.intValue() : (Object) node.longValue();
    }

    private static Object list(JsonNode node, Type of, String where) {
        if (!node.isArray()) {
            return misfit(node, "a list", where);
        }
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < node.size(); i++) {
            values.add(value(node.get(i), of, where + "[" + i + "]"));
        }
        return values;
    }

    private static Object constant(JsonNode node, Class<?> type, String where) {
        Object[] constants = type.getEnumConstants();
        for (Object constant : constants) {
            if (node.isTextual() && node.textValue().equals(((Enum<?>) constant).name())) {
                return constant;
            }
        }
        return misfit(node, "one of " + Arrays.toString(constants), where);
    }

    private static Object oneOf(JsonNode node, Class<?> sealed, String where) {
        requireObject(node, where);
        JsonNode type = node.path(RecordNames.TYPE);
        Class<?> chosen = RecordNames.types(sealed).get(type.asText());
        if (chosen == null) {
            return misfit(type, "one of " + RecordNames.types(sealed).keySet(), join(where, RecordNames.TYPE));
        }
        return record(node, chosen, where);
    }

    private static Object construct(Class<?> type, List<Object> values, String where) {
        try {
            Class<?>[] types = Arrays.stream(type.getRecordComponents())
                    .map(RecordComponent::getType)
                    .toArray(Class<?>[]::new);
            return type.getDeclaredConstructor(types).newInstance(values.toArray());
        } catch (InvocationTargetException e) {
            Throwable refusal = Objects.requireNonNullElse(e.getCause(), e);
            throw new MisfitException(where, String.valueOf(refusal.getMessage()));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot make " + type, e);
        }
    }

    private static void requireObject(JsonNode node, String where) {
        if (!node.isObject()) {
            throw misfitException(node, "an object", where);
        }
    }

    private static Object misfit(JsonNode node, String expected, String where) {
        throw misfitException(node, expected, where);
    }

    private static MisfitException misfitException(JsonNode node, String expected, String where) {
        return new MisfitException(
                where, "expected " + expected + ", not " + (node.isMissingNode() ? "nothing" : node.toString()));
    }

    private static String join(String where, String name) {
        return where.isEmpty() ? name : where + "." + name;
    }
}
