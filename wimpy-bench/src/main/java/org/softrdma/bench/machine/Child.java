package org.softrdma.bench.machine;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.measurement.MeasurementException;

/**
 * A child process with a line-based protocol: it prints what happened on its standard output, takes commands on its standard
 * input, and ends when that is closed. It never outlives this process: {@link #close} ends it, and so does a shutdown hook.
 *
 * <p>Two daemon threads read its two outputs; everything else belongs to the thread that started it.
 */
public final class Child implements AutoCloseable {
    private static final int STDERR_LINES_KEPT = 40;
    private static final long GRACE_SECONDS = 5;
    private static final String END = "\0end";

    private final String name;
    private final Process process;
    private final OutputStream input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedDeque<String> errors = new ConcurrentLinkedDeque<>();
    private final Thread errorReader;
    private final Thread hook;
    private boolean suspended;

    private Child(String name, Process process) {
        this.name = name;
        this.process = process;
        input = process.getOutputStream();
        errorReader = Thread.ofPlatform().daemon().name("stderr of " + name).unstarted(this::readErrors);
        hook = Thread.ofPlatform().name("end of " + name).unstarted(process::destroyForcibly);
    }

    /**
     * Starts one.
     *
     * @param name for messages
     * @param command program and arguments
     * @throws IOException if it cannot be started
     */
    public static Child start(String name, List<String> command) throws IOException {
        Child child = new Child(name, new ProcessBuilder(command).start());
        Runtime.getRuntime().addShutdownHook(child.hook);
        child.errorReader.start();
        Thread.ofPlatform().daemon().name("stdout of " + name).start(child::readLines);
        return child;
    }

    /** Its process number. */
    public long pid() {
        return process.pid();
    }

    /** True while it runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Its exit code, 128 and the number of the signal where one ended it.
     *
     * @param timeoutSeconds how long to wait for its end
     * @return empty if it has not ended by then
     */
    public OptionalInt exitCode(long timeoutSeconds) {
        try {
            return process.waitFor(timeoutSeconds, TimeUnit.SECONDS)
                    ? OptionalInt.of(process.exitValue())
                    : OptionalInt.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return OptionalInt.empty();
        }
    }

    /**
     * Waits for the next line that begins with a word and gives back what follows that; lines before it are dropped.
     *
     * @param word the first word
     * @param timeoutSeconds how long to wait
     * @throws MeasurementException if the process ended first or was too slow, with the end of what it wrote to its
     *     standard error
     */
    public String await(String word, long timeoutSeconds) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        for (; ; ) {
            String line = next(word, deadlineNs, timeoutSeconds);
            if (line.equals(word) || line.startsWith(word + " ")) {
                return line.substring(word.length()).trim();
            }
        }
    }

    /**
     * Waits for the next line.
     *
     * @param timeoutSeconds how long to wait
     * @throws MeasurementException as {@link #await}
     */
    public String nextLine(long timeoutSeconds) {
        return next("anything", System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds), timeoutSeconds);
    }

    private String next(String what, long deadlineNs, long timeoutSeconds) {
        try {
            String line = lines.poll(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new MeasurementException(
                        name + " did not say " + what + " within " + timeoutSeconds + " s" + complaint());
            }
            if (line.equals(END)) {
                lines.add(END);
                errorReader.join(TimeUnit.SECONDS.toMillis(1));
                throw new MeasurementException(name + " ended before it said " + what + complaint());
            }
            return line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasurementException("interrupted while waiting for " + name, e);
        }
    }

    /**
     * Sends it a line.
     *
     * @param line the line, without its end
     * @throws MeasurementException if it has ended
     */
    public void send(String line) {
        try {
            input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            input.flush();
        } catch (IOException e) {
            throw new MeasurementException(name + " has ended: " + e.getMessage(), e);
        }
    }

    /**
     * Stops it where it is, so that one that spins leaves its core to others; {@link #resume} lets it go on.
     *
     * @throws MeasurementException if that cannot be done
     */
    public void suspend() {
        signal("STOP");
        suspended = true;
    }

    /**
     * Lets it go on after {@link #suspend}.
     *
     * @throws MeasurementException if that cannot be done
     */
    public void resume() {
        signal("CONT");
        suspended = false;
    }

    private void signal(String signal) {
        try {
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid())
                    .redirectErrorStream(true)
                    .start();
            if (kill.waitFor() != 0) {
                throw new MeasurementException("could not send " + signal + " to " + name);
            }
        } catch (IOException e) {
            throw new MeasurementException("could not send " + signal + " to " + name + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasurementException("interrupted while sending " + signal + " to " + name, e);
        }
    }

    /** Asks it to end, by SIGTERM: for programs that do not care about their standard input. */
    public void terminate() {
        process.destroy();
    }

    /** Ends it at once, by SIGKILL. */
    public void kill() {
        Process ignored = process.destroyForcibly();
    }

    /** The end of what it wrote to its standard error. */
    public String errorOutput() {
        return String.join("\n", errors);
    }

    /** Ends it: closes its standard input, and after a few seconds kills it. Idempotent. */
    @Override
    public void close() {
        try {
            if (suspended) {
                resume();
            }
            input.close();
        } catch (IOException | MeasurementException e) {
            errors.add("(closing its standard input: " + e.getMessage() + ")");
        }
        boolean ended = false;
        try {
            ended = process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!ended) {
            process.destroyForcibly();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            errors.add("(this process is ending: the hook ends " + name + ")");
        }
    }

    private String complaint() {
        return errors.isEmpty() ? "" : "; it wrote:\n" + errorOutput();
    }

    private void readLines() {
        read(process.getInputStream(), lines::add);
        lines.add(END);
    }

    private void readErrors() {
        read(process.getErrorStream(), line -> {
            errors.add(line);
            while (errors.size() > STDERR_LINES_KEPT) {
                errors.pollFirst();
            }
        });
    }

    private static void read(InputStream stream, java.util.function.Consumer<String> taker) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                taker.accept(line);
            }
        } catch (IOException e) {
            taker.accept("(its output broke off: " + e.getMessage() + ")");
        }
    }
}
