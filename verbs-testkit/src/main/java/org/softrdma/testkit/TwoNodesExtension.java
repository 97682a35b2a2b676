package org.softrdma.testkit;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.opentest4j.TestAbortedException;

/** Gives every case a {@link TwoNodes} of its own and finishes it; reports how many operations the case counted. */
public final class TwoNodesExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    /** Key of the report entry with the number of operations. */
    public static final String OPERATIONS = "operations";

    /**
     * Key of the configuration parameter with the numbers of the cases that are known to fail on this device, separated
     * by commas. They wait for a fifth of the time: mostly for what never comes.
     */
    public static final String DEVIATING = "softrdma.tck.deviating";

    private static final int HASTE = 5;

    private static final Namespace NAMESPACE = Namespace.create(TwoNodesExtension.class);

    /** Made by JUnit. */
    public TwoNodesExtension() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        ConformanceSettings settings = ConformanceSettings.ofParameters(context::getConfigurationParameter);
        int number = Optional.ofNullable(context.getRequiredTestMethod().getAnnotation(ConformanceCase.class))
                .map(ConformanceCase::number)
                .orElse(0);
        boolean deviates = context.getConfigurationParameter(DEVIATING)
                .map(numbers -> List.of(numbers.split(",")).contains(Integer.toString(number)))
                .orElse(false);
        ConformanceSettings ofCase = deviates ? settings.withTimeout(settings.timeoutNs() / HASTE) : settings;
        context.getStore(NAMESPACE).put(TwoNodes.class, TwoNodes.open(ofCase, number));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        TwoNodes nodes = context.getStore(NAMESPACE).remove(TwoNodes.class, TwoNodes.class);
        if (nodes == null) {
            return; // It could not be opened, which was reported already.
        }
        boolean passed = context.getExecutionException()
                .map(failure -> failure instanceof TestAbortedException)
                .orElse(true);
        try {
            nodes.finish(passed);
        } finally {
            context.publishReportEntry(OPERATIONS, Long.toString(nodes.operations()));
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TwoNodes.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TwoNodes nodes = context.getStore(NAMESPACE).get(TwoNodes.class, TwoNodes.class);
        if (nodes == null) {
            throw new IllegalStateException("no nodes for " + context.getDisplayName());
        }
        return nodes;
    }
}
