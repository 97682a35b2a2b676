package org.softrdma.sim.samehost;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.softrdma.net.kernel.RobustMutex;
import org.softrdma.net.memory.NativeMemory;

/**
 * Whether the process that shows memory lives: nobody else can say that it does not, once it was killed. A thread of it
 * holds a mutex, which the kernel marks when that thread ends; so it is marked before anybody can know that the process
 * has ended, and before another can take its place. Stopped processes live.
 *
 * <pre>
 *   0  bytes from here to the word of the mutex, 0 without one    16  the mutex
 * </pre>
 */
final class OwnerLife implements AutoCloseable {
    /** Bytes in shared memory. */
    static final int BYTES = 128;

    private static final int MUTEX_OFFSET = 16;

    private final long address;
    private final CompletableFuture<Integer> word = new CompletableFuture<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread thread;

    /**
     * Says from now on that this process lives.
     *
     * @param address of {@link #BYTES}, zero, which stay mapped until this is closed
     * @throws IOException if the C library has no such mutex
     */
    OwnerLife(long address) throws IOException {
        this.address = address;
        thread = Thread.ofPlatform().daemon().name("softrdma same host life").unstarted(this::hold);
        thread.start();
        try {
            NativeMemory.putIntRelease(address, MUTEX_OFFSET + word.join());
        } catch (CompletionException e) {
            throw new IOException("no mutex that outlives its process: " + e.getCause(), e);
        }
    }

    @SuppressWarnings("restricted")
    private void hold() {
        MemorySegment mutex = MemorySegment.ofAddress(address + MUTEX_OFFSET).reinterpret(RobustMutex.BYTES);
        try {
            word.complete(RobustMutex.take(mutex));
        } catch (IOException | RuntimeException | Error e) {
            word.completeExceptionally(e);
            return;
        }
        boolean ended = false;
        while (!ended) {
            try {
                end.await();
                ended = true;
            } catch (InterruptedException e) {
                // it has nothing else to do
            }
        }
        RobustMutex.release(mutex);
    }

    /**
     * Where the word of a peer is.
     *
     * @param address of {@link #BYTES} that the peer has written
     * @throws IOException if there is none
     */
    static long word(long address) throws IOException {
        int offset = NativeMemory.getIntAcquire(address);
        if (offset < MUTEX_OFFSET || offset > BYTES - Integer.BYTES || offset % Integer.BYTES != 0) {
            throw new IOException("the peer does not say whether it lives: offset=" + offset);
        }
        return address + offset;
    }

    /** By its word: true if the process was alive now; for whatever was read before. */
    static boolean isAlive(long word) {
        VarHandle.acquireFence();
        int thread = NativeMemory.getIntAcquire(word);
        return thread > 0 && thread < RobustMutex.OWNER_DIED;
    }

    @Override
    public void close() {
        end.countDown();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
