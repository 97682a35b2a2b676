package org.softrdma.run.files;

import static org.softrdma.run.files.ProgramPaths.NO_DIRECTORY;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;

/** Answers calls on files: from a {@link VirtualTree} those that are its own, and leaves the others to the kernel. */
public final class FileCalls {
    private static final int ACCESS_MODE = 3;
    private static final int READ_ONLY = 0;
    private static final int DIRECTORY_ONLY = 0200000;
    private static final int CLOSE_ON_EXEC = 02000000;
    private static final int WRITE_ACCESS = 2;
    private static final int NON_BLOCKING = 04000;
    private static final int SEEK_SET = 0;
    private static final int SEEK_CUR = 1;
    private static final int MOST_ENTRIES = 32 * 1024;
    private static final byte[] FIRST_ENTRY = new byte[Long.BYTES];

    private final ProgramKernel kernel;
    private final Architecture architecture;
    private final DescriptorRange range;
    private final VirtualTree tree;
    private final Map<String, DeviceFile> devices;
    private final ProgramPaths paths;
    private final MemorySegment buffer;

    /**
     * Answers for a tree.
     *
     * @param devices what opening its character devices does, by path
     */
    public FileCalls(
            ProgramKernel kernel,
            Architecture architecture,
            DescriptorRange range,
            VirtualTree tree,
            Map<String, DeviceFile> devices,
            Arena arena) {
        this.kernel = kernel;
        this.architecture = architecture;
        this.range = range;
        this.tree = tree;
        this.devices = Map.copyOf(devices);
        paths = new ProgramPaths(kernel, tree, this.devices, arena);
        buffer = arena.allocate(MOST_ENTRIES, Long.BYTES);
    }

    /** Answers a call on files, in one way or another. */
    public void answer(Notification call, LinuxCall which) throws CallRefusedException {
        switch (which) {
            case OPEN -> open(call, paths.of(call, NO_DIRECTORY, 0), call.argument(1));
            case OPENAT -> open(call, paths.of(call, 0, 1), call.argument(2));
            case OPENAT2 -> openExtended(call);
            case STAT, LSTAT -> status(call, paths.of(call, NO_DIRECTORY, 0), call.argument(1));
            case NEWFSTATAT -> status(call, paths.of(call, 0, 1), call.argument(2));
            case FSTAT -> status(call, pathOf(call), call.argument(1));
            case STATX -> extendedStatus(call, paths.of(call, 0, 1), call.argument(4));
            case ACCESS -> access(call, paths.of(call, NO_DIRECTORY, 0), call.argument(1));
            case FACCESSAT, FACCESSAT2 -> access(call, paths.of(call, 0, 1), call.argument(2));
            case READLINK -> refuse(call, paths.of(call, NO_DIRECTORY, 0), ErrorNumber.EINVAL);
            case READLINKAT -> refuse(call, paths.of(call, 0, 1), ErrorNumber.EINVAL);
            case GETXATTR, LGETXATTR, LISTXATTR, LLISTXATTR ->
                refuse(call, paths.of(call, NO_DIRECTORY, 0), ErrorNumber.EOPNOTSUPP);
            case GETDENTS64 -> entries(call, pathOf(call));
            case LSEEK -> seek(call, pathOf(call));
            case WRITE -> write(call, pathOf(call));
            default -> kernel.pass(call.id());
        }
    }

    private @Nullable String pathOf(Notification call) {
        return paths.ofDescriptor(call.thread(), (int) call.argument(0));
    }

    private VirtualNode node(String path) throws CallRefusedException {
        VirtualNode node = tree.node(path);
        if (node == null) {
            throw new CallRefusedException(ErrorNumber.ENOENT);
        }
        return node;
    }

    /** {@code struct open_how}: flags, mode, how to resolve. */
    private void openExtended(Notification call) throws CallRefusedException {
        String path = paths.of(call, 0, 1);
        if (path != null && kernel.read(call.thread(), call.argument(2), buffer, Long.BYTES) != Long.BYTES) {
            throw new CallRefusedException(ErrorNumber.EFAULT);
        }
        open(call, path, buffer.get(ValueLayout.JAVA_LONG, 0));
    }

    private void open(Notification call, @Nullable String path, long flags) throws CallRefusedException {
        if (path == null) {
            kernel.pass(call.id());
            return;
        }
        boolean closeOnExec = (flags & CLOSE_ON_EXEC) != 0;
        VirtualNode node = node(path);
        boolean reads = (flags & ACCESS_MODE) == READ_ONLY;
        if ((flags & DIRECTORY_ONLY) != 0 && !(node instanceof VirtualNode.Directory)) {
            throw new CallRefusedException(ErrorNumber.ENOTDIR);
        }
        switch (node) {
            case VirtualNode.Directory ignored -> {
                if (!reads) {
                    throw new CallRefusedException(ErrorNumber.EISDIR);
                }
                give(call, OurFiles.name(path), FIRST_ENTRY, freeNumber(call.thread()), closeOnExec);
            }
            case VirtualNode.TextFile file -> {
                if (!reads) {
                    throw new CallRefusedException(ErrorNumber.EACCES);
                }
                give(call, OurFiles.name(path), file.content(), ProgramKernel.ANY_NUMBER, closeOnExec);
            }
            case VirtualNode.CharacterDevice ignored -> {
                DeviceFile device = devices.get(path);
                if (device == null) {
                    throw new CallRefusedException(ErrorNumber.ENOENT);
                }
                device.open(call, closeOnExec, (flags & NON_BLOCKING) != 0);
            }
        }
    }

    private void give(Notification call, String name, byte[] content, int number, boolean closeOnExec)
            throws CallRefusedException {
        int file = kernel.createFile(name, content);
        if (file < 0) {
            throw new CallRefusedException(-file);
        }
        int given = kernel.give(call.id(), file, number, closeOnExec, true);
        kernel.close(file);
        if (given < 0) {
            throw new CallRefusedException(-given);
        }
    }

    private int freeNumber(int thread) throws CallRefusedException {
        return FreeNumber.in(kernel, thread, range);
    }

    private void status(Notification call, @Nullable String path, long address) throws CallRefusedException {
        if (path == null) {
            kernel.pass(call.id());
            return;
        }
        int length = FileStatus.write(architecture, node(path), tree.number(path), buffer);
        answer(call, address, length, 0);
    }

    private void extendedStatus(Notification call, @Nullable String path, long address) throws CallRefusedException {
        if (path == null) {
            kernel.pass(call.id());
            return;
        }
        int length = FileStatus.writeExtended(node(path), tree.number(path), buffer);
        answer(call, address, length, 0);
    }

    private void access(Notification call, @Nullable String path, long mode) throws CallRefusedException {
        if (path != null && (mode & WRITE_ACCESS) != 0 && !(node(path) instanceof VirtualNode.CharacterDevice)) {
            throw new CallRefusedException(ErrorNumber.EACCES);
        }
        refuse(call, path, 0);
    }

    /** Answers with an errno, or with 0 for none, if the path is there. */
    private void refuse(Notification call, @Nullable String path, int errno) throws CallRefusedException {
        if (path == null) {
            kernel.pass(call.id());
            return;
        }
        VirtualNode ignored = node(path);
        if (errno != 0) {
            throw new CallRefusedException(errno);
        }
        kernel.answer(call.id(), 0);
    }

    private void entries(Notification call, @Nullable String path) throws CallRefusedException {
        if (path == null || !(tree.node(path) instanceof VirtualNode.Directory directory)) {
            kernel.pass(call.id());
            return;
        }
        int descriptor = (int) call.argument(0);
        long room = Math.clamp(call.argument(2), 0, MOST_ENTRIES);
        DirectoryEntries written = new DirectoryEntries(
                tree, path, directory, kernel.word(call.thread(), descriptor), buffer.asSlice(0, room));
        if (written.length() == 0 && written.hasMore()) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        kernel.setWord(call.thread(), descriptor, written.next());
        answer(call, call.argument(1), written.length(), written.length());
    }

    /** A doorbell: there is nothing that would do the work yet. */
    private void write(Notification call, @Nullable String path) throws CallRefusedException {
        if (path != null) {
            throw new CallRefusedException(ErrorNumber.EOPNOTSUPP);
        }
        kernel.pass(call.id());
    }

    private void seek(Notification call, @Nullable String path) throws CallRefusedException {
        if (path == null || !(tree.node(path) instanceof VirtualNode.Directory)) {
            kernel.pass(call.id());
            return;
        }
        int descriptor = (int) call.argument(0);
        long to = switch ((int) call.argument(2)) {
            case SEEK_SET -> call.argument(1);
            case SEEK_CUR -> kernel.word(call.thread(), descriptor) + call.argument(1);
            default -> -1;
        };
        if (to < 0) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        kernel.setWord(call.thread(), descriptor, to);
        kernel.answer(call.id(), to);
    }

    /** Writes the begin of the buffer, if the call still waits: else its thread's number may be another's. */
    private void answer(Notification call, long address, int length, long result) throws CallRefusedException {
        if (kernel.waits(call.id()) && kernel.write(call.thread(), buffer, address, length) != length) {
            throw new CallRefusedException(ErrorNumber.EFAULT);
        }
        kernel.answer(call.id(), result);
    }
}
