package org.softrdma.run.launch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.RawCalls;

/**
 * Puts the calling thread, and whatever it starts, below a filter (seccomp(2)). Other threads of this process have none. A thread can do
 * so without rights, because it gives up to get any by exec.
 */
final class FilterInstaller {
    private static final int SET_NO_NEW_PRIVILEGES = 38;
    private static final int SET_MODE_FILTER = 1;
    private static final int NEW_LISTENER = 1 << 3;
    /** A signal to a thread whose call has been received does not repeat the call; since Linux 5.19. */
    private static final int WAIT_KILLABLE = 1 << 5;

    private static final int PROGRAM_LENGTH = 16;
    private static final int INSTRUCTION_LENGTH = 8;

    private final MemorySegment program;

    /** Of a filter: {@code struct sock_fprog} has the number of instructions and their address. */
    FilterInstaller(byte[] filter, Arena arena) {
        program = arena.allocate(PROGRAM_LENGTH, Long.BYTES);
        program.set(ValueLayout.JAVA_SHORT, 0, (short) (filter.length / INSTRUCTION_LENGTH));
        MemorySegment instructions = arena.allocate(filter.length, Long.BYTES);
        MemorySegment.copy(filter, 0, instructions, ValueLayout.JAVA_BYTE, 0, filter.length);
        program.set(ValueLayout.ADDRESS, Long.BYTES, instructions);
    }

    /**
     * Installs it.
     *
     * @return the listener's descriptor, or the negative errno
     */
    int install(RawCalls calls) {
        long result = calls.call(LinuxCall.PRCTL, SET_NO_NEW_PRIVILEGES, 1, 0);
        if (result < 0) {
            return (int) result;
        }
        result = calls.call(LinuxCall.SECCOMP, SET_MODE_FILTER, NEW_LISTENER | WAIT_KILLABLE, program.address());
        if (result == -ErrorNumber.EINVAL) {
            result = calls.call(LinuxCall.SECCOMP, SET_MODE_FILTER, NEW_LISTENER, program.address());
        }
        return (int) result;
    }
}
