package org.softrdma.junit;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.platform.commons.support.AnnotationSupport;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.fault.FaultPlan;

/** Runs a {@link FabricTest} once for each seed, until one fails. On JUnit's thread. */
final class FabricExtension implements TestTemplateInvocationContextProvider {
    /**
     * A test with a seed.
     *
     * @param run the fabric of it
     */
    private record Invocation(FabricRun run) implements TestTemplateInvocationContext {
        @Override
        public String getDisplayName(int index) {
            return run.name();
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            return List.of(run);
        }
    }

    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return AnnotationSupport.isAnnotated(context.getTestMethod(), FabricTest.class);
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        FabricTest test = AnnotationSupport.findAnnotation(context.getTestMethod(), FabricTest.class)
                .orElseThrow();
        Class<?> tests = context.getRequiredTestClass();
        FabricSettings settings = test.settings().isEmpty()
                ? FabricSettings.DEFAULT
                : FactoryMethod.call(tests, test.settings(), FabricSettings.class);
        FabricSettings allowed = test.adversary() ? settings.withAdversary() : settings;
        FabricSettings all = test.faults().isEmpty()
                ? allowed
                : allowed.with(FactoryMethod.call(tests, test.faults(), FaultPlan.class));
        AtomicBoolean failed = new AtomicBoolean();
        List<Long> seeds = TestSeeds.of(test.seed(), test.seeds(), context);
        Stream<FabricRun> runs = test.wires().length == 0
                ? seeds.stream().map(seed -> new FabricRun(seed, "", all, test.sanitised(), () -> failed.set(true)))
                : Stream.of(test.wires())
                        .flatMap(wire -> seeds.stream()
                                .map(seed -> new FabricRun(
                                        seed, wire, on(wire, all), test.sanitised(), () -> failed.set(true))));
        return runs.takeWhile(_ -> !failed.get()) // JUnit runs each before it takes the next
                .map(Invocation::new);
    }

    private static FabricSettings on(String wire, FabricSettings settings) {
        Map<String, String> devices = new HashMap<>(settings.devices());
        devices.put("wire", wire);
        return settings.withDevices(devices);
    }
}
