package org.softrdma.testkit;

import java.util.Optional;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.opentest4j.TestAbortedException;

/** Hands every case a {@link Fabric} of its own and ends it; reports how many operations the case counted. */
public final class FabricExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    /** Key of the report entry with the number of operations. */
    public static final String OPERATIONS = "operations";

    private static final Namespace NAMESPACE = Namespace.create(FabricExtension.class);

    /** Made by JUnit. */
    public FabricExtension() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        ConformanceSettings settings = ConformanceSettings.ofParameters(context::getConfigurationParameter);
        int number = Optional.ofNullable(context.getRequiredTestMethod().getAnnotation(ConformanceCase.class))
                .map(ConformanceCase::number)
                .orElse(0);
        context.getStore(NAMESPACE).put(Fabric.class, Fabric.open(settings, number));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Fabric fabric = context.getStore(NAMESPACE).remove(Fabric.class, Fabric.class);
        if (fabric == null) {
            return; // It could not be opened, which has been reported.
        }
        boolean passed = context.getExecutionException()
                .map(failure -> failure instanceof TestAbortedException)
                .orElse(true);
        try {
            fabric.finish(passed);
        } finally {
            context.publishReportEntry(OPERATIONS, Long.toString(fabric.operations()));
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Fabric.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Fabric fabric = context.getStore(NAMESPACE).get(Fabric.class, Fabric.class);
        if (fabric == null) {
            throw new IllegalStateException("no fabric for " + context.getDisplayName());
        }
        return fabric;
    }
}
