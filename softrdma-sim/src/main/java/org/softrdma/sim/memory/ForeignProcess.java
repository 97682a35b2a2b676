package org.softrdma.sim.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.softrdma.sim.kernel.SystemCallException;
import org.softrdma.sim.kernel.SystemCalls;

/**
 * Another process as the owner of memory: the kernel copies from and to its addresses (process_vm_readv(2)). This
 * process must be allowed to trace it; an ancestor is, even under Yama. It must not have been waited for, because its
 * number may then be another process's.
 *
 * <p>Linux only. Any thread.
 *
 * @param number of the process
 */
public record ForeignProcess(long number) {
    private static final FunctionDescriptor SIGNATURE = FunctionDescriptor.of(
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT,
            ValueLayout.ADDRESS,
            ValueLayout.JAVA_LONG,
            ValueLayout.ADDRESS,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG);
    /** {@code struct iovec}: address and length. */
    private static final int VECTOR = 2;

    /**
     * Copies from its memory to memory of this process.
     *
     * @param source address there
     * @param target address here
     * @param length bytes
     * @throws SystemCallException EFAULT if some of it is not mapped there, ESRCH if the process has ended; some bytes
     *     may have been copied
     */
    public void read(long source, long target, long length) throws SystemCallException {
        copy("process_vm_readv", target, source, length);
    }

    /**
     * Copies from memory of this process to its memory.
     *
     * @param source address here
     * @param target address there
     * @param length bytes
     * @throws SystemCallException as {@link #read}
     */
    public void write(long source, long target, long length) throws SystemCallException {
        copy("process_vm_writev", source, target, length);
    }

    private void copy(String call, long here, long there, long length) throws SystemCallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = SystemCalls.newState(arena);
            MemorySegment local = arena.allocate(ValueLayout.JAVA_LONG, VECTOR);
            MemorySegment remote = arena.allocate(ValueLayout.JAVA_LONG, VECTOR);
            long done = 0;
            while (done < length) {
                set(local, here + done, length - done);
                set(remote, there + done, length - done);
                long copied = call(call, state, local, remote);
                if (copied <= 0) {
                    throw new SystemCallException(call + " of process " + number, SystemCalls.errno(state));
                }
                done += copied;
            }
        }
    }

    private static void set(MemorySegment vector, long address, long length) {
        vector.setAtIndex(ValueLayout.JAVA_LONG, 0, address);
        vector.setAtIndex(ValueLayout.JAVA_LONG, 1, length);
    }

    private long call(String name, MemorySegment state, MemorySegment local, MemorySegment remote) {
        MethodHandle function = SystemCalls.withErrno(name, SIGNATURE);
        try {
            return (long) function.invokeExact(state, (int) number, local, 1L, remote, 1L, 0L);
        } catch (Throwable e) {
            throw SystemCalls.failed(name, e);
        }
    }
}
