package org.softrdma.run;

import java.lang.foreign.Arena;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.filter.NotificationFilter;
import org.softrdma.run.host.HostLimits;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.LinuxKernel;
import org.softrdma.run.launch.LaunchFailureException;
import org.softrdma.run.launch.Launcher;
import org.softrdma.run.launch.OwnDescriptors;

/**
 * A program beside a card that is not there. One in a process, which must have no other children: it adopts orphans of the program, and
 * ends them with it. Any thread.
 */
public final class ProgramRun {
    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final int ATTEMPTS = 5;

    private final Architecture architecture;
    private final RxeDevice device;
    private final CardSettings card;
    private final DescriptorRange range;
    private final Launcher launcher;

    /**
     * A run that has not begun.
     *
     * @param card what is wanted of it
     * @param command the program and its arguments
     */
    public ProgramRun(Architecture architecture, RxeDevice device, CardSettings card, List<String> command) {
        this.architecture = architecture;
        this.device = device;
        this.card = card;
        range = DescriptorRange.below(HostLimits.openFiles(architecture));
        launcher = new Launcher(architecture, NotificationFilter.of(architecture, range), command, range.low());
    }

    /**
     * Runs it to its end.
     *
     * @return its exit code, or 128 and the number of the signal that ended it
     * @throws LaunchFailureException if it was not started
     */
    public int run() throws LaunchFailureException, InterruptedException {
        openRandomDevices();
        int listener = launcher.listen();
        Thread answers = Thread.ofPlatform().daemon().name("calls").start(() -> answer(listener));
        try {
            launcher.awaitStart();
            return launcher.awaitEnd();
        } finally {
            endChildren();
            boolean ignored = answers.join(GRACE);
        }
    }

    /** Java opens them with the first random number, for good. The card would do so while the program starts, which would inherit them. */
    private static void openRandomDevices() {
        Set<Integer> before = OwnDescriptors.open();
        int ignored = new SecureRandom().nextInt();
        OwnDescriptors.closeOnExecSince(before);
    }

    private void answer(int listener) {
        try (Arena arena = Arena.ofConfined()) {
            LinuxKernel kernel = new LinuxKernel(architecture, listener, arena);
            try {
                ProgramCalls calls = new ProgramCalls(kernel, architecture, range, device, card, arena);
                calls.answerAll(launcher.threadNumber());
                calls.close();
            } finally {
                kernel.close(listener); // calls that nobody answers then fail, and do not wait
            }
        }
    }

    /** Sends the program a signal, as somebody has sent it to this process. */
    public void signal(int number) {
        launcher.signal(number);
    }

    /** Asks what the program has left to end, and then ends it. */
    private void endChildren() throws InterruptedException {
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroy);
        for (int i = 0; i < ATTEMPTS && !launcher.awaitChildren(GRACE); i++) {
            ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
        }
    }
}
