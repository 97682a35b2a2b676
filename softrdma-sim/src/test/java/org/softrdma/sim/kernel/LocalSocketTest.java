package org.softrdma.sim.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class LocalSocketTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
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
        String name = "softrdma-test/" + ProcessHandle.current().pid() + "/" + System.nanoTime();
        byte[] message = new byte[LocalSocket.MESSAGE_BYTES];
        Arrays.fill(message, (byte) 7);
        byte[] received = new byte[LocalSocket.MESSAGE_BYTES];
        try (LocalSocket listening = LocalSocket.listen(name, 1);
                LocalSocket client = LocalSocket.connect(name, TIMEOUT_NS);
                LocalSocket server = listening.accept()) {
            CompletableFuture<Integer> thread = new CompletableFuture<>();
            CompletableFuture<Integer> file = CompletableFuture.supplyAsync(
                    () -> {
                        thread.complete(number());
                        return receive(client, received);
                    },
                    task -> Thread.ofPlatform().daemon().start(task));
            for (int i = 0; i < SIGNALS && !file.isDone(); i++) {
                awaitSleep(thread.join(), file);
                signal(thread.join());
            }
            server.send(message, LocalSocket.NONE, true);

            assertEquals(LocalSocket.NONE, file.get(TIMEOUT_NS, TimeUnit.NANOSECONDS));
            assertArrayEquals(message, received);
        }
    }

    private static int receive(LocalSocket socket, byte[] message) {
        try {
            return socket.receive(message);
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    private static void awaitSleep(int thread, CompletableFuture<?> orDone) throws IOException {
        Path stat = Path.of("/proc/self/task/" + thread + "/stat");
        while (!orDone.isDone() && !Files.readString(stat).contains(") S ")) {
            Thread.yield();
        }
    }

    private static int number() {
        try {
            return (int) THREAD.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static void signal(int thread) {
        try {
            assertEquals(
                    0, (int) SIGNAL.invokeExact((int) ProcessHandle.current().pid(), thread, SIGPIPE));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
