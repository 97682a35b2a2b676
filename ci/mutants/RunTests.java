import java.io.PrintWriter;
import java.util.Arrays;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs test classes without their tests tagged slow: {@code java -cp CLASSES ci/mutants/RunTests.java CLASS...}. Ends with 0 if all passed, 1 if one failed, 2 if
 * there was nothing to run.
 */
public final class RunTests {
    private RunTests() {}

    public static void main(String[] args) {
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        Launcher launcher = LauncherFactory.create();
        launcher.execute(
                LauncherDiscoveryRequestBuilder.request()
                        .selectors(Arrays.stream(args)
                                .map(DiscoverySelectors::selectClass)
                                .toList())
                        .filters(TagFilter.excludeTags("slow"))
                        .build(),
                listener);
        listener.getSummary().printFailuresTo(new PrintWriter(System.out, true), 5);
        long run = listener.getSummary().getTestsSucceededCount()
                + listener.getSummary().getTestsFailedCount();
        System.out.println(listener.getSummary().getTestsSucceededCount() + " passed, "
                + listener.getSummary().getTestsFailedCount() + " failed");
        System.exit(run == 0 ? 2 : listener.getSummary().getTotalFailureCount() > 0 ? 1 : 0);
    }
}
