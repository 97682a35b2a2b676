package org.softrdma.net.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class LocalSocketTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int SIGNALS = 20;
    /** The JVM handles it, and does nothing. */
    private static final int SIGPIPE = 13;

    private static final MethodHandle THREAD =
            SystemCalls.function("gettid", FunctionDescriptor.of(ValueLayout.JAVA_INT));
    private static final MethodHandle SIGNAL = SystemCalls.function(
            "tgkill",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    /** The kernel begins no call again by itself that has a time limit; nor one that io_uring interrupts. */
    @Test
    void shouldGoOnWaitingWhenASignalComes() throws Exception {
        byte[] message = new byte[LocalSocket.MESSAGE_BYTES];
        Arrays.fill(message, (byte) 7);
        try (Waiting waiting = new Waiting(TIMEOUT_NS)) {
            for (int i = 0; i < SIGNALS && !waiting.file.isDone(); i++) {
                waiting.signal();
            }
            waiting.server.send(message, LocalSocket.NONE, true);

            assertEquals(LocalSocket.NONE, waiting.file.get(TIMEOUT_NS, TimeUnit.NANOSECONDS));
            assertArrayEquals(message, waiting.received);
        }
    }

    @Test
    void shouldKeepToItsTimeLimitWhateverSignalsCome() throws Exception {
        try (Waiting waiting = new Waiting(TimeUnit.MILLISECONDS.toNanos(100))) {
            long startNs = System.nanoTime();
            while (!waiting.file.isDone() && System.nanoTime() - startNs < TIMEOUT_NS) {
                waiting.signal();
            }
            assertTrue(waiting.file.isDone(), "still waiting");
            assertThrows(ExecutionException.class, waiting.file::get);
        }
    }

    /** A thread that waits for a message. */
    private static final class Waiting implements AutoCloseable {
        private final String name = "softrdma-test/" + ProcessHandle.current().pid() + "/" + System.nanoTime();
        private final byte[] received = new byte[LocalSocket.MESSAGE_BYTES];
        private final CompletableFuture<Integer> thread = new CompletableFuture<>();
        private final LocalSocket listening;
        private final LocalSocket client;
        private final LocalSocket server;
        private final CompletableFuture<Integer> file;

        Waiting(long timeoutNs) throws IOException {
            listening = LocalSocket.listen(name, 1);
            client = LocalSocket.connect(name, timeoutNs);
            server = listening.accept();
            file = CompletableFuture.supplyAsync(
                    () -> {
                        thread.complete(number());
                        return receive(client, received);
                    },
                    task -> Thread.ofPlatform().daemon().start(task));
        }

        /** As soon as it sleeps, unless it has ended. */
        void signal() {
            Path stat = Path.of("/proc/self/task/" + thread.join() + "/stat");
            try {
                while (!file.isDone() && !Files.readString(stat).contains(") S ")) {
                    Thread.yield();
                }
            } catch (IOException e) {
                return; // the thread has ended
            }
            LocalSocketTest.signal(thread.join());
        }

        @Override
        public void close() {
            client.close();
            server.close();
            listening.close();
        }
    }

    private static int receive(LocalSocket socket, byte[] message) {
        try {
            return socket.receive(message);
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    private static int number() {
        try {
            return (int) THREAD.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Of a thread that may have ended. */
    private static void signal(int thread) {
        try {
            int ignored = (int) SIGNAL.invokeExact((int) ProcessHandle.current().pid(), thread, SIGPIPE);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
