package org.softrdma.run.launch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.RawCalls;

/**
 * The thread that puts itself below a filter, starts a program, which inherits it, and waits for the program and its orphans: this process
 * adopts them. From the filter on the thread makes linked calls only. What the JVM does for it at other times, such as loading a class,
 * opens files, and would wait for an answer that another thread cannot give before this one has come to a safepoint.
 *
 * <p>There may be one in a process, which must have no other children. Any thread calls; a thread of its own launches.
 */
public final class Launcher {
    private static final int SET_CHILD_SUBREAPER = 36;

    private static final int NONE = 0;

    private final Architecture architecture;
    private final byte[] filter;
    private final List<String> command;
    private final int lastDescriptor;
    private final CountDownLatch listening = new CountDownLatch(1);
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;
    private volatile int listener = -ErrorNumber.ENOMEM;
    private volatile int threadNumber;
    private volatile int spawnError = ErrorNumber.ENOMEM;
    private volatile int process;
    private volatile int status;

    /**
     * A launcher that has not begun.
     *
     * @param filter as BPF
     * @param command the program and its arguments
     * @param lastDescriptor a descriptor of the filter's range: lseek on it by {@link #threadNumber} is this thread's last call
     */
    public Launcher(Architecture architecture, byte[] filter, List<String> command, int lastDescriptor) {
        this.architecture = architecture;
        this.filter = filter.clone();
        this.command = List.copyOf(command);
        this.lastDescriptor = lastDescriptor;
        thread = Thread.ofPlatform().daemon().name("launcher").unstarted(this::launch);
    }

    private void launch() {
        try (Arena arena = Arena.ofConfined()) {
            RawCalls calls = new RawCalls(architecture, arena);
            Spawn spawn = new Spawn(command, arena);
            FilterInstaller installer = new FilterInstaller(filter, arena);
            MemorySegment result = arena.allocate(ValueLayout.JAVA_INT);
            ParentDeath parentDeath = new ParentDeath(calls, lastDescriptor, arena);
            spawn.link();
            new CountDownLatch(1).countDown();
            threadNumber = (int) calls.call(LinuxCall.GETTID, 0, 0, 0);
            long ignored = calls.call(LinuxCall.PRCTL, SET_CHILD_SUBREAPER, 1, 0);
            listener = installer.install(calls);
            listening.countDown();
            if (listener < 0) {
                return;
            }
            spawnError = spawn.start();
            process = spawnError == NONE ? spawn.process() : NONE;
            parentDeath.set(process);
            started.countDown();
            if (spawnError == NONE) {
                awaitChildren(calls, result, process);
                status = result.get(ValueLayout.JAVA_INT, 0);
                process = NONE;
            }
            ended.countDown();
            awaitChildren(calls, result, NONE);
            ignored = calls.call(LinuxCall.LSEEK, lastDescriptor, 0, 0);
        } finally { // whoever waits hears of a failure
            listening.countDown();
            started.countDown();
            ended.countDown();
        }
    }

    /** Takes the status of every child that ends, until it is that one; without one until there is none left. */
    private static void awaitChildren(RawCalls calls, MemorySegment result, int last) {
        while (true) {
            long child = calls.call(LinuxCall.WAIT4, -1, result.address(), 0);
            if (child == -ErrorNumber.ECHILD || (child > 0 && child == last)) {
                return;
            }
        }
    }

    /**
     * Begins: there is a filter and a listener, but the program waits until its calls are answered.
     *
     * @return the listener's descriptor
     * @throws LaunchFailureException if this process may have no such filter
     */
    public int listen() throws LaunchFailureException, InterruptedException {
        thread.start();
        listening.await();
        if (listener < 0) {
            throw new LaunchFailureException(1, SeccompRefusal.sentence(-listener));
        }
        return listener;
    }

    /** The number of the thread that has the filter. */
    public int threadNumber() {
        return threadNumber;
    }

    /**
     * Waits until the program runs; calls must be answered meanwhile.
     *
     * @throws LaunchFailureException if it does not
     */
    public void awaitStart() throws LaunchFailureException, InterruptedException {
        started.await();
        if (spawnError != NONE) {
            boolean absent = spawnError == ErrorNumber.ENOENT || spawnError == ErrorNumber.ENOTDIR;
            throw new LaunchFailureException(
                    absent ? 127 : 126,
                    absent
                            ? command.getFirst() + ": no such program; expected one on PATH, or a path to one"
                            : command.getFirst() + ": cannot be run: errno " + spawnError
                                    + (spawnError == ErrorNumber.EACCES ? ", it is not executable" : ""));
        }
    }

    /** Waits for the end of the program; its children may go on. */
    public int awaitEnd() throws InterruptedException {
        ended.await();
        return ExitStatus.ofWait(status);
    }

    /**
     * Waits until no child is left.
     *
     * @return false if there are some left
     */
    public boolean awaitChildren(Duration timeout) throws InterruptedException {
        return thread.join(timeout);
    }

    /** Sends the program a signal, if it still runs. */
    public void signal(int number) {
        int to = process;
        if (to != NONE) {
            try (Arena arena = Arena.ofConfined()) {
                long ignored = new RawCalls(architecture, arena).call(LinuxCall.KILL, to, number, 0);
            }
        }
    }
}
