package org.softrdma.bench.read;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.softrdma.bench.cpu.AllocationMeter;

/**
 * The lines between a responder and the study that started it. The responder says where it is; the study asks {@code ALLOC}, which is
 * answered by {@code ALLOC bytes requests} (heap bytes allocated by all other threads, requests served or -1), and closes the input to
 * end it.
 *
 * <p>{@link #say} and {@link #isEnded} from any thread; the input is read on a thread of its own.
 */
public final class ControlLines {
    private final PrintStream out;
    private final AllocationMeter allocation = new AllocationMeter();
    private final AtomicBoolean ended = new AtomicBoolean();

    /** Lines to an output. */
    public ControlLines(PrintStream out) {
        this.out = out;
    }

    /** Says a line. */
    public void say(String line) {
        out.println(line);
        out.flush();
    }

    /** True once the input has ended. */
    public boolean isEnded() {
        return ended.get();
    }

    /**
     * Begins to obey the lines of an input.
     *
     * @param in the input
     * @param served tells how many requests were served
     * @param atEnd run after the input has ended
     * @return the thread that does so
     */
    public Thread obey(InputStream in, LongSupplier served, Runnable atEnd) {
        return Thread.ofPlatform().daemon().name("control").start(() -> {
            read(in, served);
            ended.set(true);
            atEnd.run();
        });
    }

    private void read(InputStream in, LongSupplier served) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.equals("ALLOC")) {
                    say("ALLOC " + allocation.othersBytes() + " " + served.getAsLong());
                }
            }
        } catch (IOException e) {
            say("LOST control lines: " + e.getMessage());
        }
    }
}
