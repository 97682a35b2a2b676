package org.softrdma.run.files;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Entries as getdents64(2) gives them, {@code struct linux_dirent64}, each a multiple of 8 bytes long. We write, the program reads.
 *
 * <pre>
 *    0  inode                            8 bytes
 *    8  position behind this entry       8
 *   16  length of the entry              2
 *   18  type                             1
 *   19  name, a byte 0, zeros
 * </pre>
 */
final class DirectoryEntries {
    private static final int POSITION_OFFSET = Long.BYTES;
    private static final int LENGTH_OFFSET = POSITION_OFFSET + Long.BYTES;
    private static final int TYPE_OFFSET = LENGTH_OFFSET + Short.BYTES;
    private static final int NAME_OFFSET = TYPE_OFFSET + Byte.BYTES;
    private static final List<String> OF_EVERY_DIRECTORY = List.of(".", "..");

    private final VirtualTree tree;
    private final String path;
    private final VirtualNode.Directory directory;
    private final MemorySegment to;
    private int length;
    private int next;

    /**
     * Writes as many entries as there is room for.
     *
     * @param path of the directory
     * @param from index of the first entry
     */
    DirectoryEntries(VirtualTree tree, String path, VirtualNode.Directory directory, long from, MemorySegment to) {
        this.tree = tree;
        this.path = path;
        this.directory = directory;
        this.to = to;
        int count = OF_EVERY_DIRECTORY.size() + directory.names().size();
        next = Math.clamp(from, 0, count);
        while (next < count && write(name(next))) {
            next++;
        }
    }

    private String name(int index) {
        return index < OF_EVERY_DIRECTORY.size()
                ? OF_EVERY_DIRECTORY.get(index)
                : directory.names().get(index - OF_EVERY_DIRECTORY.size());
    }

    private boolean write(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        int entry = Math.ceilDiv(NAME_OFFSET + bytes.length + 1, Long.BYTES) * Long.BYTES;
        if (length + entry > to.byteSize()) {
            return false;
        }
        String target = ProgramPaths.shortest(path + "/" + name);
        VirtualNode node = tree.node(target);
        MemorySegment at = to.asSlice(length, entry).fill((byte) 0);
        at.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, Math.max(1, tree.number(target)));
        at.set(ValueLayout.JAVA_LONG_UNALIGNED, POSITION_OFFSET, next + 1L);
        at.set(ValueLayout.JAVA_SHORT_UNALIGNED, LENGTH_OFFSET, (short) entry);
        at.set(ValueLayout.JAVA_BYTE, TYPE_OFFSET, (byte) (node == null ? directory : node).entryType());
        MemorySegment.copy(bytes, 0, at, ValueLayout.JAVA_BYTE, NAME_OFFSET, bytes.length);
        length += entry;
        return true;
    }

    /** Bytes that were written. */
    int length() {
        return length;
    }

    /** Index of the entry behind the last one that was written. */
    int next() {
        return next;
    }

    /** Whether there are entries left. */
    boolean hasMore() {
        return next < OF_EVERY_DIRECTORY.size() + directory.names().size();
    }
}
