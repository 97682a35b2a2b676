package org.softrdma.bench.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** On Linux. Lowering a priority takes no rights; raising one does. */
class ThreadPriorityTest {
    /** Fields of stat behind the name, from 0: nice is 16. */
    private static final int NICE_FIELD = 16;

    private static int nice(String name) throws IOException {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                String stat = Files.readString(task.resolve("stat"));
                if (stat.contains("(" + name + ")")) {
                    String[] fields =
                            stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ", -1);
                    return Integer.parseInt(fields[NICE_FIELD]);
                }
            }
        }
        throw new AssertionError("no thread " + name);
    }

    @Test
    void shouldSetTheNiceValueOfAClassOfThreadsOnly() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch both = new CountDownLatch(2);
        Runnable waiting = () -> {
            both.countDown();
            try {
                over.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        Thread rnic = Thread.ofPlatform().name("rnic-nice-test").start(waiting);
        Thread other = Thread.ofPlatform().name("kv-nice-test").start(waiting);
        try {
            both.await();
            int before = nice("kv-nice-test");
            ThreadPriority.set(ProcessHandle.current().pid(), ThreadClass.RNIC, before + 3);
            assertEquals(before + 3, nice("rnic-nice-test"));
            assertEquals(before, nice("kv-nice-test"));
        } finally {
            over.countDown();
            rnic.join();
            other.join();
        }
    }

    @Test
    void shouldSayThatThereIsNoSuchThread() {
        assertThrows(IOException.class, () -> ThreadPriority.set(Long.MAX_VALUE, ThreadClass.RNIC, 0));
    }
}
