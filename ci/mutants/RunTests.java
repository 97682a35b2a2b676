import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs test classes without their tests tagged slow, up to the first that fails: {@code java -cp CLASSES ci/mutants/RunTests.java CLASS...}.
 * Ends with 0 if all passed, 1 if one failed, 2 if there was nothing to run or a class is missing: then nothing was tested.
 */
public final class RunTests {
    private static final int PASSED = 0;
    private static final int FAILED = 1;
    private static final int CANNOT_RUN = 2;

    private RunTests() {}

    public static void main(String[] args) {
        requireClasses(args);
        AtomicInteger passed = new AtomicInteger();
        TestExecutionListener listener = new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                result.getThrowable()
                        .filter(thrown -> result.getStatus() == TestExecutionResult.Status.FAILED)
                        .ifPresent(thrown -> end(test, thrown));
                if (test.isTest() && result.getStatus() == TestExecutionResult.Status.SUCCESSFUL) {
                    passed.incrementAndGet();
                }
            }
        };
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(Arrays.stream(args)
                                        .map(DiscoverySelectors::selectClass)
                                        .toList())
                                .filters(TagFilter.excludeTags("slow"))
                                .build(),
                        listener);
        System.out.println(passed + " passed");
        System.exit(passed.get() == 0 ? CANNOT_RUN : PASSED);
    }

    /** The launcher throws if there is no such class, which would look like a test that fails. */
    private static void requireClasses(String[] names) {
        for (String name : names) {
            try {
                Class.forName(name, false, RunTests.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                System.out.println("there is no test class " + name + " in this module: add \"module: NAME\" to the mutant");
                System.exit(CANNOT_RUN);
            }
        }
    }

    /** Without a farewell: what a mutant has left may hold up the end. */
    private static void end(TestIdentifier test, Throwable thrown) {
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace, true));
        Optional<Throwable> missing = causes(thrown).filter(ClassNotFoundException.class::isInstance).findFirst();
        System.out.println(trace);
        System.out.println(test.getUniqueId());
        System.out.println(missing.map(cause -> "a class is missing: " + cause.getMessage())
                .orElse("failed: " + test.getDisplayName() + ": " + thrown));
        System.out.flush();
        Runtime.getRuntime().halt(missing.isPresent() ? CANNOT_RUN : FAILED);
    }

    private static Stream<Throwable> causes(Throwable thrown) {
        return Stream.iterate(thrown, cause -> cause != null, Throwable::getCause).limit(100);
    }
}
