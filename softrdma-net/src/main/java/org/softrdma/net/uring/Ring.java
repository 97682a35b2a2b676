package org.softrdma.net.uring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.net.kernel.SystemCalls;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.memory.NativeMemory;

/**
 * One io_uring: its descriptor, its two mapped queues, and the call that moves both. It begins disabled, so that it can
 * be made by one thread and belong to the one that calls {@link #enable}.
 *
 * <pre>
 *   struct io_uring_params, written by the kernel in io_uring_setup
 *   submission entries, 4 | completion entries, 4 | flags, 4 | ...              0
 *   ... | features, 4 | ...                                                    16
 *   submission queue: offsets of head | tail | mask | entries | flags | ...    40
 *   completion queue: offsets of head | tail | mask | entries | ... | entries  80
 *
 *   struct io_uring_cqe, written by the kernel
 *   user data, 8 | result, 4 | flags, 4                                         0
 * </pre>
 *
 * <p>The process writes the submission tail by release, and the kernel the completion tail; each is read by acquire.
 *
 * <p>Thread: whoever made it until {@link #enable}, then that thread.
 */
final class Ring implements AutoCloseable {
    private static final int PARAMETERS_BYTES = 120;
    private static final int PARAMETERS_COMPLETIONS = Integer.BYTES;
    private static final int PARAMETERS_FLAGS = PARAMETERS_COMPLETIONS + Integer.BYTES;
    private static final int PARAMETERS_FEATURES = PARAMETERS_FLAGS + 3 * Integer.BYTES;
    private static final int SUBMISSION_OFFSETS = PARAMETERS_FEATURES + 5 * Integer.BYTES;
    private static final int COMPLETION_OFFSETS = SUBMISSION_OFFSETS + 10 * Integer.BYTES;
    private static final int HEAD = 0;
    private static final int TAIL = HEAD + Integer.BYTES;
    private static final int MASK = TAIL + Integer.BYTES;
    private static final int SUBMISSION_FLAGS = MASK + 2 * Integer.BYTES;
    private static final int SUBMISSION_ARRAY = SUBMISSION_FLAGS + 2 * Integer.BYTES;
    private static final int COMPLETION_ENTRIES = MASK + 3 * Integer.BYTES;

    private static final int SETUP_CQSIZE = 1 << 3;
    private static final int SETUP_R_DISABLED = 1 << 6;
    /** One bad entry must not hold up those behind it. */
    private static final int SETUP_SUBMIT_ALL = 1 << 7;

    private static final int SETUP_TASKRUN_FLAG = 1 << 9;
    private static final int SETUP_SINGLE_ISSUER = 1 << 12;
    private static final int SETUP_DEFER_TASKRUN = 1 << 13;
    private static final int SETUP_FLAGS = SETUP_CQSIZE
            | SETUP_R_DISABLED
            | SETUP_SUBMIT_ALL
            | SETUP_TASKRUN_FLAG
            | SETUP_SINGLE_ISSUER
            | SETUP_DEFER_TASKRUN;

    private static final int FEATURE_SINGLE_MMAP = 1;
    private static final int FEATURE_NODROP = 1 << 1;
    private static final int FEATURE_SUBMIT_STABLE = 1 << 2;
    private static final int FEATURE_EXT_ARG = 1 << 8;
    private static final int FEATURES = FEATURE_SINGLE_MMAP | FEATURE_NODROP | FEATURE_SUBMIT_STABLE | FEATURE_EXT_ARG;

    private static final int REGISTER_ENABLE_RINGS = 12;
    private static final long MAP_SUBMISSION_ENTRIES = 0x1000_0000L;

    private static final int ENTER_GETEVENTS = 1;
    private static final int ENTER_EXT_ARG = 1 << 3;
    private static final int FLAG_OVERFLOW = 1 << 1;
    private static final int FLAG_TASKRUN = 1 << 2;

    // struct io_uring_getevents_arg: signal mask, 8 | its size, 4, and padding | address of a struct timespec, 8
    private static final int ARGUMENT_TIME = 2 * Long.BYTES;
    private static final int ARGUMENT_BYTES = ARGUMENT_TIME + Long.BYTES;

    private static final int RESULT_OFFSET = Long.BYTES;
    private static final int COMPLETION_FLAGS_OFFSET = RESULT_OFFSET + Integer.BYTES;
    private static final int COMPLETION_BYTES = COMPLETION_FLAGS_OFFSET + Integer.BYTES;

    private final Arena arena = Arena.ofShared();
    private final RingCalls calls;
    private final int descriptor;
    private final long argument;
    private final long time;

    private long queues;
    private long queuesBytes;
    private long entries;
    private final int entryCount;
    private final long submissionTail;
    private final long submissionFlags;
    private final long completionHead;
    private final long completionTail;
    private final long completions;
    private final int submissionMask;
    private final int completionMask;

    private int tail;
    private int submitted;
    private boolean closed;
    private boolean completionsLost;

    /**
     * Makes a ring.
     *
     * @param kernel its system calls, whose memory lives as long as the ring
     * @param memory for what is passed to the kernel
     * @param submissions entries of the submission queue, a power of two
     * @param wanted entries of the completion queue, a power of two
     * @throws IOException if the kernel has none, or not what is needed
     */
    Ring(Function<Arena, RingCalls> kernel, BufferOperations memory, int submissions, int wanted) throws IOException {
        int opened = -1;
        calls = kernel.apply(arena);
        try {
            MemorySegment parameters = memory.allocate(PARAMETERS_BYTES, Long.BYTES, arena);
            long at = parameters.address();
            NativeMemory.putNativeInt(at + PARAMETERS_FLAGS, SETUP_FLAGS);
            NativeMemory.putNativeInt(at + PARAMETERS_COMPLETIONS, wanted);
            opened = calls.setup(submissions, at);
            descriptor = opened;
            int features = NativeMemory.getNativeInt(at + PARAMETERS_FEATURES);
            if ((features & FEATURES) != FEATURES) {
                throw new IOException("io_uring has features " + Integer.toHexString(features) + ", but "
                        + Integer.toHexString(FEATURES) + " are needed");
            }
            entryCount = NativeMemory.getNativeInt(at);
            int completionCount = NativeMemory.getNativeInt(at + PARAMETERS_COMPLETIONS);
            long submission = at + SUBMISSION_OFFSETS;
            long completion = at + COMPLETION_OFFSETS;
            int array = NativeMemory.getNativeInt(submission + SUBMISSION_ARRAY);
            int completionEntries = NativeMemory.getNativeInt(completion + COMPLETION_ENTRIES);
            queuesBytes = Math.max(
                    array + (long) entryCount * Integer.BYTES,
                    completionEntries + (long) completionCount * COMPLETION_BYTES);
            queues = calls.map(descriptor, queuesBytes, 0);
            entries = calls.map(descriptor, (long) entryCount * SubmissionEntry.BYTES, MAP_SUBMISSION_ENTRIES);
            submissionTail = queues + NativeMemory.getNativeInt(submission + TAIL);
            submissionFlags = queues + NativeMemory.getNativeInt(submission + SUBMISSION_FLAGS);
            submissionMask = NativeMemory.getNativeInt(queues + NativeMemory.getNativeInt(submission + MASK));
            completionHead = queues + NativeMemory.getNativeInt(completion + HEAD);
            completionTail = queues + NativeMemory.getNativeInt(completion + TAIL);
            completionMask = NativeMemory.getNativeInt(queues + NativeMemory.getNativeInt(completion + MASK));
            completions = queues + completionEntries;
            for (int i = 0; i < entryCount; i++) {
                NativeMemory.putNativeInt(queues + array + (long) i * Integer.BYTES, i);
            }
            argument = memory.allocate(ARGUMENT_BYTES, Long.BYTES, arena).address();
            time = memory.allocate(2 * Long.BYTES, Long.BYTES, arena).address();
        } catch (IOException | RuntimeException | Error e) {
            release(opened);
            throw e;
        }
    }

    /** The ring belongs to the calling thread from now on. */
    void enable() throws IOException {
        calls.register(descriptor, REGISTER_ENABLE_RINGS, 0, 0);
    }

    /** io_uring_register(2) for one argument. */
    void register(int operation, long address) throws IOException {
        calls.register(descriptor, operation, address, 1);
    }

    // ---- submitting

    /** True if there is no room for another entry before the next submit. */
    boolean isFull() {
        return tail - submitted == entryCount;
    }

    /** Address of the next entry of the submission queue, for which there is room; the caller fills it. */
    long entry() {
        return entries + (long) (tail++ & submissionMask) * SubmissionEntry.BYTES;
    }

    /** True if a call would do something now: entries wait, or the kernel has work, or completions that did not fit. */
    boolean hasWork() {
        return tail != submitted || (NativeMemory.getIntAcquire(submissionFlags) & (FLAG_TASKRUN | FLAG_OVERFLOW)) != 0;
    }

    /**
     * Submits, and lets the kernel do its part, without waiting.
     *
     * @return true if everything is submitted; else completions must be taken, or memory is short
     */
    boolean submit() {
        boolean ignored = enter(0, 0);
        return tail == submitted;
    }

    /** Submits everything, and waits for a completion. Returns earlier for a signal. */
    void await(long timeoutNs) {
        boolean ignored = enter(1, timeoutNs);
    }

    private boolean enter(int complete, long timeoutNs) {
        int flags = ENTER_GETEVENTS;
        if (complete > 0) {
            flags |= ENTER_EXT_ARG;
            NativeMemory.putNativeLong(argument + ARGUMENT_TIME, time);
            NativeMemory.putNativeLong(time, timeoutNs / TimeUnit.SECONDS.toNanos(1));
            NativeMemory.putNativeLong(time + Long.BYTES, timeoutNs % TimeUnit.SECONDS.toNanos(1));
        }
        NativeMemory.putIntRelease(submissionTail, tail); // read by the kernel in the call, by acquire
        int result =
                calls.enter(descriptor, tail - submitted, complete, flags, complete > 0 ? argument : 0, ARGUMENT_BYTES);
        if (result >= 0) {
            submitted += result;
            return true;
        }
        return switch (calls.errno()) {
            case SystemCalls.EINTR, RingCalls.ETIME -> true;
            case RingCalls.EAGAIN, RingCalls.EBUSY -> false; // no memory, or too many completions that did not fit
            case RingCalls.EBADR -> {
                completionsLost = true;
                yield true;
            }
            default -> throw new UncheckedIOException(new SystemCallException("io_uring_enter", calls.errno()));
        };
    }

    /** True, once, if the kernel had no memory to keep a completion. */
    boolean takeCompletionsLost() {
        boolean was = completionsLost;
        completionsLost = false;
        return was;
    }

    // ---- completions: from firstCompletion, while it is not lastCompletion, then advance

    int firstCompletion() {
        return NativeMemory.getNativeInt(completionHead);
    }

    int lastCompletion() {
        return NativeMemory.getIntAcquire(completionTail);
    }

    long userData(int completion) {
        return NativeMemory.getNativeLong(address(completion));
    }

    int result(int completion) {
        return NativeMemory.getNativeInt(address(completion) + RESULT_OFFSET);
    }

    int flags(int completion) {
        return NativeMemory.getNativeInt(address(completion) + COMPLETION_FLAGS_OFFSET);
    }

    private long address(int completion) {
        return completions + (long) (completion & completionMask) * COMPLETION_BYTES;
    }

    /** Completions before this one were taken; the kernel may overwrite them. */
    void advance(int completion) {
        NativeMemory.putIntRelease(completionHead, completion); // read by the kernel, by acquire
    }

    /** Closes a descriptor that belongs to the ring's owner. */
    void closeDescriptor(int other) {
        calls.close(other);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            release(descriptor);
        }
    }

    private void release(int opened) {
        if (entries != 0) {
            calls.unmap(entries, (long) entryCount() * SubmissionEntry.BYTES);
        }
        if (queues != 0) {
            calls.unmap(queues, queuesBytes);
        }
        if (opened >= 0) {
            calls.close(opened);
        }
        arena.close();
    }

    private int entryCount() {
        return entryCount;
    }
}
