package org.softrdma.cli.faults;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.RecordComponent;
import java.util.List;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;

/** Records as JSON; fields with their usual values are left out. Any thread. */
final class RecordWriter {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private RecordWriter() {}

    static JsonNode write(Record record) {
        ObjectNode object = NODES.objectNode();
        if (record instanceof When || record instanceof What) {
            object.put(RecordNames.TYPE, RecordNames.type(record.getClass()));
        }
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            Object value = value(record, component);
            if (!value.equals(RecordNames.usual(component.getName()))) {
                object.set(component.getName(), node(value));
            }
        }
        return object;
    }

    private static Object value(Record record, RecordComponent component) {
        try {
            return component.getAccessor().invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot read " + component + " of " + record, e);
        }
    }

    private static JsonNode node(Object value) {
        return switch (value) {
            case Record record -> write(record);
            case List<?> list -> {
                ArrayNode array = NODES.arrayNode();
                list.forEach(each -> array.add(node(each)));
                yield array;
            }
            case Boolean flag -> NODES.booleanNode(flag);
            case Integer number -> NODES.numberNode(number);
            case Long number when RecordNames.isForever(number) -> NODES.textNode(RecordNames.FOREVER);
            case Long number -> NODES.numberNode(number);
            case Enum<?> constant -> NODES.textNode(constant.name());
            default -> NODES.textNode(value.toString());
        };
    }
}
