package org.softrdma.run;

import java.util.List;
import java.util.Optional;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.launch.LaunchFailureException;

/** {@code softrdma run} without a command line: a run needs a process of its own. */
final class RunMain {
    /** Its faults are written where the program writes. */
    private static final CardSettings CARD = new CardSettings(
            PlannedFaults.ofThisProcess(line -> System.err.println("fault: " + line)),
            Optional.empty(),
            counters -> {});

    /** Property: the pipe of {@link HeapFiller}. */
    static final String FILLING_PIPE = "softrdma.test.filling-pipe";

    private RunMain() {}

    public static void main(String[] arguments) throws Exception {
        String pipe = System.getProperty(FILLING_PIPE);
        if (pipe != null) {
            HeapFiller.start(pipe);
        }
        Architecture architecture =
                Architecture.named(System.getProperty("os.arch")).orElseThrow();
        try {
            System.exit(new ProgramRun(architecture, RxeDevice.ofThisHost(), CARD, List.of(arguments)).run());
        } catch (LaunchFailureException e) {
            System.err.println(e.getMessage());
            System.exit(e.exitCode());
        }
    }
}
