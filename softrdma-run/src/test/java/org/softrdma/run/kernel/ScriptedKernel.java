package org.softrdma.run.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A kernel without Linux: one program with a page of memory, whose descriptors and answers a test looks at. */
public final class ScriptedKernel implements ProgramKernel {
    /** Where the program's memory begins. */
    public static final long MEMORY = 0x7000;

    /** The only thread of the program. */
    public static final int THREAD = 77;

    private static final int LENGTH = 4096;

    /** What was said of calls, in order, such as {@code refuse 1 2} or {@code give 1 960 answer}. */
    public final List<String> answers = new ArrayList<>();

    /** Links below /proc of the program. */
    public final Map<String, String> links = new HashMap<>();

    /** Writing ends of pipes whose readers are gone. */
    public final Set<Integer> abandoned = new HashSet<>();

    /** Descriptors of this process that are open. */
    public final Set<Integer> open = new HashSet<>();

    /** Mappings that are there. */
    public final List<MemorySegment> mappings = new ArrayList<>();

    /** Of every descriptor. */
    public int statusFlags;

    /** The next mapping that is given back finds no memory here. */
    public boolean withoutMemory;

    /** Asking for a link fails as nothing should. */
    public boolean broken;

    /** Whether the call still waits. */
    public boolean waits = true;

    private final MemorySegment memory = Arena.ofAuto().allocate(LENGTH, Long.BYTES);
    private final MemorySegment notification = Arena.ofAuto().allocate(Notification.LENGTH, Long.BYTES);
    private final Map<Integer, String> names = new HashMap<>();
    private final Map<Integer, Long> words = new HashMap<>();
    /** Of pipes, by the numbers that the program has for them. */
    private final Map<Integer, Integer> readingEnds = new HashMap<>();
    /** Reading ends, which stay open here. */
    private final Set<Integer> pipes = new HashSet<>();

    private final Arena arena = Arena.ofAuto();
    private final RawCalls linux = new RawCalls(Architecture.X86_64, arena);
    private final int listener = (int) linux.call(LinuxCall.EVENTFD2, 1, 0, 0);
    /** Beyond those of this process. */
    private int lastDescriptor = 100_000;

    private int lowestFree = 3;
    private long lastId;

    /** A call of the program; numbers of calls are those of x86-64. */
    public Notification call(LinuxCall call, long... arguments) {
        notification.fill((byte) 0);
        notification.set(ValueLayout.JAVA_LONG, Notification.ID_OFFSET, ++lastId);
        notification.set(ValueLayout.JAVA_INT, Notification.THREAD_OFFSET, THREAD);
        notification.set(ValueLayout.JAVA_INT, Notification.NUMBER_OFFSET, Architecture.X86_64.number(call));
        for (int i = 0; i < arguments.length; i++) {
            notification.set(
                    ValueLayout.JAVA_LONG, Notification.ARGUMENTS_OFFSET + (long) i * Long.BYTES, arguments[i]);
        }
        return new Notification(notification);
    }

    /** Puts a text into the program's memory; returns its address. */
    public long text(int offset, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, offset, bytes.length);
        memory.set(ValueLayout.JAVA_BYTE, (long) offset + bytes.length, (byte) 0);
        return MEMORY + offset;
    }

    /** The program's memory. */
    public MemorySegment memory() {
        return memory;
    }

    /** Bytes of the program's memory, in hexadecimal. */
    public String hex(int offset, int length) {
        return HexFormat.of().formatHex(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public int listener() {
        return listener;
    }

    @Override
    public boolean receive(Notification into) {
        into.bytes().copyFrom(notification);
        return true;
    }

    @Override
    public boolean hasCall() {
        return true;
    }

    @Override
    public boolean waits(long id) {
        return waits;
    }

    @Override
    public void answer(long id, long result) {
        answers.add("answer " + id + " " + result);
    }

    @Override
    public void refuse(long id, int errno) {
        answers.add("refuse " + id + " " + errno);
    }

    @Override
    public void pass(long id) {
        answers.add("pass " + id);
    }

    @Override
    public int give(long id, int descriptor, int number, boolean closeOnExec, boolean answer) {
        int given = number == ANY_NUMBER ? lowestFree++ : number;
        String name = names.get(descriptor);
        if (name == null) {
            readingEnds.put(given, descriptor);
        }
        links.put("fd/" + given, name == null ? "pipe:[" + descriptor + "]" : "/memfd:" + name + " (deleted)");
        answers.add("give " + id + " " + given + (closeOnExec ? " closeOnExec" : "") + (answer ? " answer" : ""));
        return given;
    }

    @Override
    public long read(int thread, long address, MemorySegment target, long length) {
        long copied = inMemory(address, length);
        if (copied > 0) {
            MemorySegment.copy(memory, address - MEMORY, target, 0, copied);
        }
        return copied;
    }

    @Override
    public long write(int thread, MemorySegment source, long address, long length) {
        long copied = inMemory(address, length);
        if (copied > 0) {
            MemorySegment.copy(source, 0, memory, address - MEMORY, copied);
        }
        return copied;
    }

    private static long inMemory(long address, long length) {
        return address < MEMORY ? 0 : Math.clamp(MEMORY + LENGTH - address, 0, length);
    }

    @Override
    public String linkOf(int thread, String name) {
        if (broken) {
            throw new IllegalStateException("of a test");
        }
        return links.getOrDefault(name, "");
    }

    @Override
    public int readLink(int thread, int descriptor, MemorySegment into) {
        byte[] link = linkOf(thread, "fd/" + descriptor).getBytes(StandardCharsets.UTF_8);
        int length = Math.min(link.length, (int) into.byteSize());
        MemorySegment.copy(link, 0, into, ValueLayout.JAVA_BYTE, 0, length);
        return length;
    }

    @Override
    public int createFile(String name, byte[] content) {
        names.put(newDescriptor(), name);
        return lastDescriptor;
    }

    private int newDescriptor() {
        open.add(++lastDescriptor);
        return lastDescriptor;
    }

    @Override
    public MemorySegment map(int file, long length) {
        // As much as a test's rings take.
        MemorySegment mapping = Arena.ofAuto().allocate(1 << 20, Long.BYTES);
        mappings.add(mapping);
        return mapping;
    }

    @Override
    public void unmap(MemorySegment mapping) {
        if (withoutMemory) {
            withoutMemory = false;
            throw new OutOfMemoryError("of a test");
        }
        mappings.remove(mapping);
    }

    @Override
    public long word(int thread, int descriptor) {
        return words.getOrDefault(descriptor, 0L);
    }

    @Override
    public void setWord(int thread, int descriptor, long value) {
        words.put(descriptor, value);
    }

    @Override
    public void setNonBlocking(int descriptor) {
        answers.add("set non-blocking");
    }

    @Override
    public int open(int thread, int descriptor) {
        return linkOf(thread, "fd/" + descriptor).isEmpty() ? -ErrorNumber.EBADF : newDescriptor();
    }

    /** A real one, whose reading end stays open here. */
    @Override
    public long createPipe() {
        MemorySegment ends = arena.allocate(ValueLayout.JAVA_LONG);
        long ignored = linux.call(LinuxCall.PIPE2, ends.address(), 04000, 0);
        long both = ends.get(ValueLayout.JAVA_LONG, 0);
        pipes.add((int) both);
        open.add((int) both);
        open.add((int) (both >>> Integer.SIZE));
        return both;
    }

    /** Reads a word that was written for the program into a pipe; -1 if there is none. */
    public long event(int number) {
        MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
        long read = linux.call(LinuxCall.READ, readingEnds.getOrDefault(number, -1), word.address(), Long.BYTES);
        return read == Long.BYTES ? word.get(ValueLayout.JAVA_LONG, 0) : -1;
    }

    @Override
    public int removeWords(int thread, int descriptor, int writingEnd, long word, int length) {
        int removed = 0;
        for (long first = event(descriptor); first != -1; first = event(descriptor)) {
            removed += first == word ? 1 : 0;
            for (int i = Long.BYTES; i < length; i += Long.BYTES) {
                long ignored = event(descriptor);
            }
        }
        return removed;
    }

    @Override
    public int statusFlags(int thread, int descriptor) {
        return statusFlags;
    }

    @Override
    public int processOf(int thread) {
        return (int) ProcessHandle.current().pid();
    }

    @Override
    public void killWhenClosed(int readingEnd, int process) {
        answers.add("kill " + process + " when closed");
    }

    @Override
    public boolean isAbandoned(int writingEnd) {
        return abandoned.contains(writingEnd);
    }

    @Override
    public void close(int descriptor) {
        open.remove(descriptor);
        if (!pipes.contains(descriptor) && descriptor < 100_000) {
            long ignored = linux.call(LinuxCall.CLOSE, descriptor, 0, 0);
        }
    }
}
