package org.softrdma.sim.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.net.kernel.SystemCalls;
import org.softrdma.net.memory.NativeMemory;

/**
 * Another process as the owner of memory: the kernel copies from and to its addresses (process_vm_readv(2)). This
 * process must be allowed to trace it; an ancestor is, even under Yama. It must not have been waited for, because its
 * number may then be another process's.
 *
 * <p>Atomics are whole among each other and towards copies by the same object, so there is one for each process. The
 * process itself may come in between (IBV_ATOMIC_HCA).
 *
 * <p>Linux only. Any thread; one at a time copies.
 */
public final class ForeignProcess {
    private static final FunctionDescriptor SIGNATURE = FunctionDescriptor.of(
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT,
            ValueLayout.ADDRESS,
            ValueLayout.JAVA_LONG,
            ValueLayout.ADDRESS,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG);
    private static final MethodHandle READ = SystemCalls.withErrno("process_vm_readv", SIGNATURE);
    private static final MethodHandle WRITE = SystemCalls.withErrno("process_vm_writev", SIGNATURE);

    /** {@code struct iovec}: address and length. */
    private static final int VECTOR = 2;

    private static final int ESRCH = 3;
    private static final int EFAULT = 14;

    private final long number;
    private volatile boolean ended;
    private final ReentrantLock lock = new ReentrantLock();

    // Of the call that is made, under the lock.
    private final MemorySegment state;
    private final MemorySegment local;
    private final MemorySegment remote;
    private final MemorySegment word;

    /**
     * A process that runs.
     *
     * @param number of the process
     */
    public ForeignProcess(long number) {
        this.number = number;
        Arena arena = Arena.ofAuto();
        state = SystemCalls.newState(arena);
        local = arena.allocate(ValueLayout.JAVA_LONG, VECTOR);
        remote = arena.allocate(ValueLayout.JAVA_LONG, VECTOR);
        word = arena.allocate(ValueLayout.JAVA_LONG);
    }

    /** Number of the process. */
    public long number() {
        return number;
    }

    /**
     * Copies from its memory to memory of this process.
     *
     * @param source address there
     * @param target address here
     * @param length bytes
     * @return false if some of it cannot be read there, or the process {@link #hasEnded}; some bytes may have been copied
     */
    public boolean read(long source, long target, long length) {
        return copy(true, target, source, length) == 0;
    }

    /**
     * Copies from memory of this process to its memory.
     *
     * @param source address here
     * @param target address there
     * @param length bytes
     * @return false if some of it cannot be written there, or the process {@link #hasEnded}; some bytes may have been copied
     */
    public boolean write(long source, long target, long length) {
        return copy(false, source, target, length) == 0;
    }

    /** Whether the last copy has found that it has ended. A process that dies loses its memory before its descriptors. */
    public boolean hasEnded() {
        return ended;
    }

    /**
     * Checks that a byte of its memory can be read.
     *
     * @param address there
     * @throws SystemCallException EFAULT if nothing is mapped there, EPERM if this process may not trace that one, ESRCH if
     *     it has ended
     */
    public void check(long address) throws SystemCallException {
        lock.lock();
        try {
            int errno = copy(true, word.address(), address, 1);
            if (errno != 0) {
                throw new SystemCallException(
                        "process_vm_readv at 0x" + Long.toHexString(address) + " of process " + number, errno);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds to a word of its memory.
     *
     * @param there address of the word
     * @param delta what is added
     * @param original address here, where what the word was goes
     * @return false if it cannot be read and written
     */
    boolean fetchAndAdd(long there, long delta, long original) {
        lock.lock();
        try {
            return read(there, original, Long.BYTES) && writeWord(there, NativeMemory.getNativeLong(original) + delta);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Replaces a word of its memory if it is as expected.
     *
     * @param there address of the word
     * @param expected what it must be
     * @param replacement what it becomes
     * @param original address here, where what the word was goes
     * @return false if it cannot be read, or has to be written and cannot be
     */
    boolean compareAndSwap(long there, long expected, long replacement, long original) {
        lock.lock();
        try {
            return read(there, original, Long.BYTES)
                    && (NativeMemory.getNativeLong(original) != expected || writeWord(there, replacement));
        } finally {
            lock.unlock();
        }
    }

    private boolean writeWord(long there, long value) {
        word.set(ValueLayout.JAVA_LONG, 0, value);
        return write(word.address(), there, Long.BYTES);
    }

    /** Returns 0, or the errno of the failure. */
    private int copy(boolean reads, long here, long there, long length) {
        lock.lock();
        try {
            int errno = copyAll(reads, here, there, length);
            ended = errno == ESRCH;
            return errno;
        } finally {
            lock.unlock();
        }
    }

    private int copyAll(boolean reads, long here, long there, long length) {
        long done = 0;
        while (done < length) {
            set(local, here + done, length - done);
            set(remote, there + done, length - done);
            long copied = call(reads);
            if (copied <= 0) {
                return copied < 0 ? SystemCalls.errno(state) : EFAULT;
            }
            done += copied;
        }
        return 0;
    }

    private static void set(MemorySegment vector, long address, long length) {
        vector.setAtIndex(ValueLayout.JAVA_LONG, 0, address);
        vector.setAtIndex(ValueLayout.JAVA_LONG, 1, length);
    }

    private long call(boolean reads) {
        try {
            return reads
                    ? (long) READ.invokeExact(state, (int) number, local, 1L, remote, 1L, 0L)
                    : (long) WRITE.invokeExact(state, (int) number, local, 1L, remote, 1L, 0L);
        } catch (Throwable e) {
            throw SystemCalls.failed(reads ? "process_vm_readv" : "process_vm_writev", e);
        }
    }

    @Override
    public String toString() {
        return "process " + number;
    }
}
