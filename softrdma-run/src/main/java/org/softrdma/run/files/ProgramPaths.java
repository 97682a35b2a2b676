package org.softrdma.run.files;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;

/**
 * Reads paths in a program's calls, and says which are ours. Most are not, and for them nothing is made: a path concerns us only if it
 * contains {@code infiniband} or {@code rdma_cm}, or begins at a directory of ours.
 */
final class ProgramPaths {
    /** For calls whose paths begin at the working directory. */
    static final int NO_DIRECTORY = -1;

    /** {@code AT_FDCWD}. */
    private static final int WORKING_DIRECTORY = -100;

    private static final int LONGEST = 4096;
    private static final int PAGE = 4096;
    private static final int PIECE = 256;
    private static final byte[][] WORDS = {
        "infiniband".getBytes(StandardCharsets.US_ASCII), "rdma_cm".getBytes(StandardCharsets.US_ASCII)
    };

    private final ProgramKernel kernel;
    private final VirtualTree tree;
    private final Map<String, DeviceFile> devices;
    private final MemorySegment text;

    ProgramPaths(ProgramKernel kernel, VirtualTree tree, Map<String, DeviceFile> devices, Arena arena) {
        this.kernel = kernel;
        this.tree = tree;
        this.devices = devices;
        text = arena.allocate(LONGEST);
    }

    /**
     * The path of a call.
     *
     * @param directory index of the argument that has the descriptor of a directory, or {@link #NO_DIRECTORY}
     * @param path index of the argument that points to the path
     * @return in its shortest form; null if it is the kernel's to answer
     */
    @Nullable
    String of(Notification call, int directory, int path) {
        int length = read(call.thread(), call.argument(path));
        if (length < 0) {
            return null;
        }
        if (length == 0) { // AT_EMPTY_PATH: the descriptor itself
            return directory == NO_DIRECTORY ? null : ofDescriptor(call.thread(), (int) call.argument(directory));
        }
        boolean concerns = concerns(length);
        if (text.get(ValueLayout.JAVA_BYTE, 0) == '/') {
            return concerns ? ours("", length) : null;
        }
        int from = directory == NO_DIRECTORY ? WORKING_DIRECTORY : (int) call.argument(directory);
        if (from == WORKING_DIRECTORY) {
            return concerns ? ours(kernel.linkOf(call.thread(), "cwd"), length) : null;
        }
        String base = OurFiles.pathOf(kernel, call.thread(), from);
        if (base == null && concerns) {
            base = kernel.linkOf(call.thread(), "fd/" + from);
        }
        return base == null ? null : ours(base, length);
    }

    /** The path of what a program's descriptor is of; null if it is not ours. */
    @Nullable
    String ofDescriptor(int thread, int descriptor) {
        String path = OurFiles.pathOf(kernel, thread, descriptor);
        if (path != null) {
            return path;
        }
        for (Map.Entry<String, DeviceFile> each : devices.entrySet()) {
            if (each.getValue().has(thread, descriptor)) {
                return each.getKey();
            }
        }
        return null;
    }

    /** Reads up to the byte 0, never across the end of a page that may be the last one. */
    private int read(int thread, long address) {
        int length = 0;
        while (length < LONGEST) {
            long from = address + length;
            long piece = Math.min(Math.min(PIECE, LONGEST - length), PAGE - (from & (PAGE - 1)));
            long copied = kernel.read(thread, from, text.asSlice(length), piece);
            if (copied <= 0) {
                return -1;
            }
            for (long end = length + copied; length < end; length++) {
                if (text.get(ValueLayout.JAVA_BYTE, length) == 0) {
                    return length;
                }
            }
        }
        return -1;
    }

    private boolean concerns(int length) {
        for (byte[] word : WORDS) {
            for (int at = 0; at + word.length <= length; at++) {
                if (isAt(word, at)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean isAt(byte[] word, int at) {
        for (int i = 0; i < word.length; i++) {
            if (text.get(ValueLayout.JAVA_BYTE, (long) at + i) != word[i]) {
                return false;
            }
        }
        return true;
    }

    private @Nullable String ours(String base, int length) {
        String given = new String(text.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        String path = shortest(base + "/" + given);
        // Above a root the kernel knows better, unless the way leads through the root, which the kernel may not have.
        return tree.covers(path) || (given.contains("..") && tree.node(path) != null) ? path : null;
    }

    /** Without empty parts, {@code .} and {@code ..}; no part of ours is a link. */
    static String shortest(String path) {
        Deque<String> parts = new ArrayDeque<>();
        for (String part : path.split("/", -1)) {
            if (part.equals("..")) {
                parts.pollLast();
            } else if (!part.isEmpty() && !part.equals(".")) {
                parts.addLast(part);
            }
        }
        return "/" + String.join("/", parts);
    }
}
