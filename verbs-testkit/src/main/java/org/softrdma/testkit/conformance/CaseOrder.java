package org.softrdma.testkit.conformance;

import java.util.Comparator;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.MethodOrdererContext;
import org.softrdma.testkit.ConformanceCase;

/** Runs the cases of a class by number. */
public final class CaseOrder implements MethodOrderer {
    /** Made by JUnit. */
    public CaseOrder() {}

    @Override
    public void orderMethods(MethodOrdererContext context) {
        context.getMethodDescriptors()
                .sort(Comparator.comparingInt(method -> method.findAnnotation(ConformanceCase.class)
                        .map(ConformanceCase::number)
                        .orElse(0)));
    }
}
