package org.softrdma.junit;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** Gives an {@link RdmaTest} its devices, judges what it did with them, and closes them. On the test's thread. */
final class RdmaExtension implements ParameterResolver, TestExecutionExceptionHandler, AfterEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(RdmaExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == VerbsDevice.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        WatchedDevices devices = store(context)
                .getOrComputeIfAbsent(
                        WatchedDevices.class, _ -> new WatchedDevices(isSanitised(context)), WatchedDevices.class);
        VerbsDevice device = devices.wrap(VerbsProviders.named("sim").open(Map.of()));
        devices.give(device);
        return device;
    }

    private static boolean isSanitised(ExtensionContext context) {
        return AnnotationSupport.findAnnotation(context.getTestMethod(), RdmaTest.class)
                .map(RdmaTest::sanitised)
                .orElse(true);
    }

    private static Store store(ExtensionContext context) {
        return context.getStore(NAMESPACE);
    }

    /** Names the broken rules in the message of a failure: some reports show nothing else. */
    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        WatchedDevices devices = store(context).get(WatchedDevices.class, WatchedDevices.class);
        String broken = devices == null || failure instanceof TestAbortedException ? "" : devices.alsoBroken();
        if (broken.isEmpty()) {
            throw failure;
        }
        throw FailureText.with(FailureText.of(failure) + broken, failure, failure);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        WatchedDevices devices = store(context).remove(WatchedDevices.class, WatchedDevices.class);
        if (devices == null) {
            return; // a test without devices
        }
        Optional<Throwable> failure = context.getExecutionException();
        if (failure.isPresent()) {
            devices.explain(failure.get());
            devices.abandon();
            return;
        }
        try {
            devices.requireGood(_ -> true);
        } finally {
            devices.abandon();
        }
    }
}
