package org.softrdma.fabric.shrink;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;

/** Plans as Java that can be pasted into a test. Any thread. */
final class PlanText {
    private PlanText() {}

    static String java(FaultPlan plan) {
        StringBuilder text = new StringBuilder("FaultPlan.NONE");
        for (Fault fault : plan.faults()) {
            text.append("\n        .and(").append(value(fault)).append(')');
        }
        return text.toString();
    }

    private static String value(Object value) {
        return switch (value) {
            case Record record -> construction(record);
            case String string -> '"' + string.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
            case Long number -> number + "L";
            case Enum<?> constant -> constant.getDeclaringClass().getSimpleName() + '.' + constant.name();
            default -> value.toString();
        };
    }

    private static String construction(Record record) {
        List<String> arguments = new ArrayList<>();
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            arguments.add(value(argument(record, component)));
        }
        return "new " + name(record.getClass()) + '(' + String.join(", ", arguments) + ')';
    }

    private static Object argument(Record record, RecordComponent component) {
        try {
            return component.getAccessor().invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot read " + component + " of " + record, e);
        }
    }

    private static String name(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        return (outer == null ? "" : outer.getSimpleName() + '.') + type.getSimpleName();
    }
}
