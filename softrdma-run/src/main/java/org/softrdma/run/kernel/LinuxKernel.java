package org.softrdma.run.kernel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.softrdma.net.memory.NativeMemory;

/**
 * Linux as the kernel of a program, by the listener of its filter (seccomp_unotify(2)). Structures that the kernel reads are in places of
 * their own, which are used again. Runs on the thread that answers calls.
 */
public final class LinuxKernel implements ProgramKernel {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final long RECEIVE = 0xC050_2100L;
    private static final long SEND = 0xC018_2101L;
    private static final long ID_VALID = 0x4008_2102L;
    private static final long ADD_DESCRIPTOR = 0x4018_2103L;
    private static final int CONTINUE = 1;
    private static final int ADD_AT_NUMBER = 1;
    private static final int ADD_AND_ANSWER = 2;
    private static final int CLOSE_ON_EXEC = 02000000;
    private static final int READ_WRITE = 2;
    private static final int SET_STATUS_FLAGS = 4;
    private static final int NON_BLOCKING = 04000;
    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int ADD_SEALS = 1033;
    /** It has this length for good, and these seals: what is mapped here must not go away. */
    private static final int SEALS = 1 | 2 | 4;

    private static final int READABLE_WRITABLE = 3;
    private static final int SHARED = 1;
    private static final int CURRENT_DIRECTORY = -100;
    private static final int POLL_READABLE = 1;
    private static final int POLL_ERROR = 8;
    private static final String PROCESSES = "/proc/";
    private static final int DECIMAL = 10;
    private static final String PROCESS_LINE = "Tgid:";
    private static final String FLAGS_LINE = "flags:";

    private static final int REPLY_LENGTH = 24;
    private static final int VECTOR_LENGTH = 16;
    private static final int PATH_LENGTH = 4096;
    private static final int DESCRIPTOR_PATH_LENGTH = 64;
    private static final int POLL_LENGTH = 8;

    private final RawCalls calls;
    private final int listener;
    private final MemorySegment reply;
    private final MemorySegment addition;
    private final MemorySegment vectors;
    private final MemorySegment word;
    private final MemorySegment path;
    /** Of a descriptor: {@code /proc/} stays in it. */
    private final MemorySegment descriptorPath;

    private final MemorySegment link;
    private final MemorySegment noTime;

    /**
     * The kernel behind a listener.
     *
     * @param listener the descriptor that installing the filter gave
     * @param arena for structures
     */
    public LinuxKernel(Architecture architecture, int listener, Arena arena) {
        this.listener = listener;
        calls = new RawCalls(architecture, arena);
        reply = arena.allocate(REPLY_LENGTH, Long.BYTES);
        addition = arena.allocate(REPLY_LENGTH, Long.BYTES);
        vectors = arena.allocate(2L * VECTOR_LENGTH, Long.BYTES);
        word = arena.allocate(LONG);
        path = arena.allocate(PATH_LENGTH);
        descriptorPath = arena.allocate(DESCRIPTOR_PATH_LENGTH);
        descriptorPath.setString(0, PROCESSES);
        link = arena.allocate(PATH_LENGTH);
        noTime = arena.allocate(2L * Long.BYTES, Long.BYTES);
    }

    @Override
    public int listener() {
        return listener;
    }

    @Override
    public boolean receive(Notification into) {
        into.bytes().fill((byte) 0);
        long result =
                calls.call(LinuxCall.IOCTL, listener, RECEIVE, into.bytes().address());
        if (result < 0 && result != -ErrorNumber.ENOENT && result != -ErrorNumber.EINTR) {
            throw new IllegalStateException("calls of the program cannot be received: errno " + -result);
        }
        return result >= 0;
    }

    @Override
    public boolean hasCall() {
        return poll(listener, POLL_READABLE) != 0;
    }

    @Override
    public boolean waits(long id) {
        word.set(LONG, 0, id);
        return calls.call(LinuxCall.IOCTL, listener, ID_VALID, word.address()) == 0;
    }

    @Override
    public void answer(long id, long result) {
        reply(id, result, 0, 0);
    }

    @Override
    public void refuse(long id, int errno) {
        reply(id, 0, -errno, 0);
    }

    @Override
    public void pass(long id) {
        reply(id, 0, 0, CONTINUE);
    }

    /** A caller that has died meanwhile needs no answer. {@code struct seccomp_notif_resp}: id, result, error, flags. */
    private void reply(long id, long result, int error, int flags) {
        reply.set(LONG, 0, id);
        reply.set(LONG, Long.BYTES, result);
        reply.set(INT, 2L * Long.BYTES, error);
        reply.set(INT, 2L * Long.BYTES + Integer.BYTES, flags);
        long ignored = calls.call(LinuxCall.IOCTL, listener, SEND, reply.address());
    }

    /** {@code struct seccomp_notif_addfd}: id, flags, descriptor here, number there, flags of the descriptor. */
    @Override
    public int give(long id, int descriptor, int number, boolean closeOnExec, boolean answer) {
        addition.set(LONG, 0, id);
        addition.set(INT, Long.BYTES, (number == ANY_NUMBER ? 0 : ADD_AT_NUMBER) | (answer ? ADD_AND_ANSWER : 0));
        addition.set(INT, Long.BYTES + Integer.BYTES, descriptor);
        addition.set(INT, 2L * Long.BYTES, number == ANY_NUMBER ? 0 : number);
        addition.set(INT, 2L * Long.BYTES + Integer.BYTES, closeOnExec ? CLOSE_ON_EXEC : 0);
        return (int) calls.call(LinuxCall.IOCTL, listener, ADD_DESCRIPTOR, addition.address());
    }

    @Override
    public long read(int thread, long address, MemorySegment target, long length) {
        return copy(LinuxCall.PROCESS_VM_READV, thread, target, address, length);
    }

    @Override
    public long write(int thread, MemorySegment source, long address, long length) {
        return copy(LinuxCall.PROCESS_VM_WRITEV, thread, source, address, length);
    }

    private long copy(LinuxCall call, int thread, MemorySegment here, long there, long length) {
        vectors.set(LONG, 0, here.address());
        vectors.set(LONG, Long.BYTES, length);
        vectors.set(LONG, VECTOR_LENGTH, there);
        vectors.set(LONG, VECTOR_LENGTH + Long.BYTES, length);
        return calls.call(call, thread, vectors.address(), 1, vectors.address() + VECTOR_LENGTH, 1, 0);
    }

    @Override
    public String linkOf(int thread, String name) {
        path.setString(0, "/proc/" + thread + "/" + name);
        long length = calls.call(
                LinuxCall.READLINKAT, CURRENT_DIRECTORY, path.address(), link.address(), link.byteSize(), 0, 0);
        return length <= 0
                ? ""
                : new String(link.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    @Override
    public int readLink(int thread, int descriptor, MemorySegment into) {
        long at = writeNumber(PROCESSES.length(), thread);
        descriptorPath.set(ValueLayout.JAVA_BYTE, at, (byte) '/');
        descriptorPath.set(ValueLayout.JAVA_BYTE, at + 1, (byte) 'f');
        descriptorPath.set(ValueLayout.JAVA_BYTE, at + 2, (byte) 'd');
        descriptorPath.set(ValueLayout.JAVA_BYTE, at + 3, (byte) '/');
        descriptorPath.set(ValueLayout.JAVA_BYTE, writeNumber(at + 4, descriptor), (byte) 0);
        long length = calls.call(
                LinuxCall.READLINKAT,
                CURRENT_DIRECTORY,
                descriptorPath.address(),
                into.address(),
                into.byteSize(),
                0,
                0);
        return (int) Math.max(0, length);
    }

    /** Writes a number's digits into the path of a descriptor; returns where they end. A negative one names no descriptor. */
    private long writeNumber(long at, int number) {
        int digits = 1;
        for (int rest = number / DECIMAL; rest != 0; rest /= DECIMAL) {
            digits++;
        }
        int rest = number;
        for (long digit = at + digits - 1; digit >= at; digit--) {
            descriptorPath.set(ValueLayout.JAVA_BYTE, digit, (byte) ('0' + rest % DECIMAL));
            rest /= DECIMAL;
        }
        return at + digits;
    }

    @Override
    public int createFile(String name, byte[] content) {
        path.setString(0, name);
        int file = (int) calls.call(LinuxCall.MEMFD_CREATE, path.address(), MFD_CLOEXEC | MFD_ALLOW_SEALING, 0);
        if (file < 0 || content.length == 0) {
            return file;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, content);
            long written = calls.call(LinuxCall.PWRITE64, file, bytes.address(), content.length, 0, 0, 0);
            if (written == content.length) {
                return file;
            }
            close(file);
            return written < 0 ? (int) written : -ErrorNumber.EIO;
        }
    }

    @Override
    public MemorySegment map(int file, long length) throws CallRefusedException {
        long result = calls.call(LinuxCall.FTRUNCATE, file, length, 0);
        if (result == 0) {
            result = calls.call(LinuxCall.FCNTL, file, ADD_SEALS, SEALS);
        }
        if (result == 0) {
            result = calls.call(LinuxCall.MMAP, 0, length, READABLE_WRITABLE, SHARED, file, 0);
        }
        if (result < 0) {
            throw new CallRefusedException((int) -result);
        }
        return NativeMemory.segment(result, length);
    }

    @Override
    public void unmap(MemorySegment mapping) {
        long ignored = calls.call(LinuxCall.MUNMAP, mapping.address(), mapping.byteSize(), 0);
    }

    @Override
    public long word(int thread, int descriptor) throws CallRefusedException {
        return ofFile(LinuxCall.PREAD64, thread, descriptor);
    }

    @Override
    public void setWord(int thread, int descriptor, long value) throws CallRefusedException {
        word.set(LONG, 0, value);
        long ignored = ofFile(LinuxCall.PWRITE64, thread, descriptor);
    }

    @Override
    public int open(int thread, int descriptor) {
        path.setString(0, "/proc/" + thread + "/fd/" + descriptor);
        return (int) calls.call(LinuxCall.OPENAT, CURRENT_DIRECTORY, path.address(), READ_WRITE | CLOSE_ON_EXEC);
    }

    /** By another description of the same file, so that the program's own position stays. */
    private long ofFile(LinuxCall call, int thread, int descriptor) throws CallRefusedException {
        int file = open(thread, descriptor);
        if (file < 0) {
            throw new CallRefusedException(ErrorNumber.EBADF);
        }
        long done = calls.call(call, file, word.address(), Long.BYTES, 0, 0, 0);
        close(file);
        if (done != Long.BYTES) {
            throw new CallRefusedException(ErrorNumber.EIO);
        }
        return word.get(LONG, 0);
    }

    @Override
    public int statusFlags(int thread, int descriptor) {
        return field("/proc/" + thread + "/fdinfo/" + descriptor, FLAGS_LINE)
                .map(flags -> Integer.parseInt(flags, 8))
                .orElse(0);
    }

    @Override
    public long createPipe() {
        long result = calls.call(LinuxCall.PIPE2, word.address(), CLOSE_ON_EXEC, 0);
        if (result < 0) {
            return result;
        }
        long ends = word.get(LONG, 0);
        // The end that stays here. How the program reads is the program's choice.
        setNonBlocking((int) (ends >>> Integer.SIZE));
        return ends;
    }

    @Override
    public void setNonBlocking(int descriptor) {
        long ignored = calls.call(LinuxCall.FCNTL, descriptor, SET_STATUS_FLAGS, NON_BLOCKING);
    }

    @Override
    public int removeWords(int thread, int descriptor, int writingEnd, long unwanted, int length) {
        path.setString(0, "/proc/" + thread + "/fd/" + descriptor);
        int file = (int) calls.call(LinuxCall.OPENAT, CURRENT_DIRECTORY, path.address(), NON_BLOCKING | CLOSE_ON_EXEC);
        if (file < 0) {
            return 0;
        }
        int removed = 0;
        long read = calls.call(LinuxCall.READ, file, link.address(), link.byteSize() / length * length);
        close(file);
        for (long at = 0; at + length <= read; at += length) {
            if (link.get(LONG, at) == unwanted) {
                removed++;
            } else {
                long ignored = calls.call(LinuxCall.WRITE, writingEnd, link.address() + at, length);
            }
        }
        return removed;
    }

    @Override
    public int processOf(int thread) {
        return field("/proc/" + thread + "/status", PROCESS_LINE)
                .map(Integer::parseInt)
                .orElse(thread);
    }

    /** What a line says whose begin is known. */
    private static Optional<String> field(String file, String begin) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            return lines.filter(line -> line.startsWith(begin))
                    .findFirst()
                    .map(line -> line.substring(begin.length()).strip());
        } catch (IOException | UncheckedIOException e) {
            return Optional.empty();
        }
    }

    @Override
    public boolean isAbandoned(int writingEnd) {
        return (poll(writingEnd, 0) & POLL_ERROR) != 0;
    }

    /** {@code struct pollfd}: descriptor, events to wait for, events that are there, which it returns. */
    private int poll(int descriptor, int events) {
        word.set(INT, 0, descriptor);
        word.set(INT, Integer.BYTES, events);
        long ready = calls.call(LinuxCall.PPOLL, word.address(), 1, noTime.address());
        return ready > 0 ? word.get(ValueLayout.JAVA_SHORT, POLL_LENGTH - Short.BYTES) : 0;
    }

    @Override
    public void killWhenClosed(int readingEnd, int process) {
        KillingPipe.set(calls, readingEnd, process);
    }

    @Override
    public void close(int descriptor) {
        long ignored = calls.call(LinuxCall.CLOSE, descriptor, 0, 0);
    }
}
