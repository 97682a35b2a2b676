package org.softrdma.cli.command;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets a command that serves end in order whatever ends it: a signal, the end of its input, itself. One thread waits,
 * any thread may stop it; the process ends when the waiting thread has said that everything is closed.
 */
public final class ProcessStop {
    private static final int CLOSE_TIMEOUT_SECONDS = 60;
    private static final System.Logger LOG = System.getLogger(ProcessStop.class.getName());

    private final CountDownLatch stopped;
    private final CountDownLatch closed = new CountDownLatch(1);

    /**
     * From now on a signal stops.
     *
     * @param stopped counted down by whoever stops
     */
    public ProcessStop(CountDownLatch stopped) {
        this.stopped = stopped;
        Runtime.getRuntime().addShutdownHook(new Thread(this::endInOrder, "stop"));
    }

    /** Stops. Any thread. */
    public void stop() {
        stopped.countDown();
    }

    /**
     * Waits until it is stopped; by the end of the input as well, if there is one.
     *
     * @param input read by a thread of its own; null for none
     * @param lines told each line of it, by that thread
     */
    public void await(@Nullable InputStream input, Consumer<String> lines) {
        if (input != null) {
            Thread.ofPlatform().daemon().name("input").start(() -> stopAtEnd(input, lines));
        }
        try {
            stopped.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void stopAtEnd(InputStream input, Consumer<String> lines) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.accept(line);
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "reading standard input failed: " + e.getMessage());
        } finally {
            stopped.countDown();
        }
    }

    /** Everything is closed, or could not be: the process may end. */
    public void closed() {
        closed.countDown();
    }

    /** A signal came: lets the waiting thread close everything before the process ends, which it does in any case. */
    private void endInOrder() {
        stopped.countDown();
        try {
            if (!closed.await(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                LOG.log(
                        System.Logger.Level.ERROR,
                        "the server did not close within " + CLOSE_TIMEOUT_SECONDS + " s; the process ends anyway");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
