package org.softrdma.kv.server.stream;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.kernel.SocketFile;

/** The file of a Unix socket (unix(7)): its place, its rights and its end. One thread. */
final class UnixSocketFile {
    private static final Logger LOG = LoggerFactory.getLogger(UnixSocketFile.class);
    private static final int PERMISSION_BITS = 9;

    /** Java's limit is a few bytes lower. */
    private static final int MAX_DIRECT_PATH = 90;

    private final Path file;
    private final Set<PosixFilePermission> rights;
    private boolean placed;

    /** Binds a socket and listens. */
    interface Binder {
        /** Makes the file. */
        void bind(UnixDomainSocketAddress address) throws IOException;
    }

    /**
     * Not there yet.
     *
     * @param file where
     * @param mask its rights, as chmod(2) has them
     */
    UnixSocketFile(Path file, int mask) {
        this.file = file;
        rights = permissions(mask);
    }

    /**
     * Binds it. A socket has the rights of the process's umask when it is bound, and whoever connects before they are changed
     * stays connected. So it is bound in a directory that only its owner can enter, and then moved to its place.
     *
     * @throws IOException says why not, and what to do
     */
    void place(Binder binder) throws IOException {
        removeDeadSocket();
        if (length(file) > SocketFile.MAX_PATH_BYTES) {
            throw new IOException("the path has " + length(file) + " bytes, and the kernel allows "
                    + SocketFile.MAX_PATH_BYTES + "; choose a shorter one with -s");
        }
        Path parent = file.toAbsolutePath().getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            throw new IOException("there is no directory " + parent + "; make it, or choose another with -s");
        }
        Path directory = Files.createTempDirectory(parent, ".");
        try {
            Path hidden = directory.resolve("s");
            try {
                bind(binder, hidden);
                Files.setPosixFilePermissions(hidden, rights);
                Files.move(hidden, file, StandardCopyOption.ATOMIC_MOVE);
                placed = true;
            } finally {
                boolean ignored = Files.deleteIfExists(hidden);
            }
        } finally {
            Files.delete(directory);
        }
    }

    private static void bind(Binder binder, Path hidden) throws IOException {
        Path parent = hidden.toAbsolutePath().getParent();
        if (length(hidden) <= MAX_DIRECT_PATH || parent == null) {
            binder.bind(UnixDomainSocketAddress.of(hidden));
            return;
        }
        try (ShortPath link = new ShortPath(parent)) {
            binder.bind(UnixDomainSocketAddress.of(link.path.resolve(hidden.getFileName())));
        }
    }

    /** A link to a longer path: limits are for the path that is named, not for where links lead. */
    private static final class ShortPath implements AutoCloseable {
        private final Path directory;
        private final Path path;

        ShortPath(Path longer) throws IOException {
            directory = Files.createTempDirectory("kv");
            path = directory.resolve("l");
            Files.createSymbolicLink(path, longer.toAbsolutePath());
        }

        @Override
        public void close() throws IOException {
            Files.delete(path);
            Files.delete(directory);
        }
    }

    private static int length(Path file) {
        return file.toString().getBytes(StandardCharsets.UTF_8).length;
    }

    /** A server that was killed leaves its socket file; one that still has a server is not ours to remove. */
    private void removeDeadSocket() throws IOException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .isOther()) {
            throw new IOException("the file is there and is not a socket; choose another with -s");
        }
        if (!isAnswered(file)) {
            Files.delete(file);
            return;
        }
        throw new IOException("another server listens there; choose another with -s");
    }

    private static boolean isAnswered(Path file) throws IOException {
        if (length(file) > MAX_DIRECT_PATH) {
            try (ShortPath link = new ShortPath(file)) {
                return isAnswered(link.path);
            }
        }
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(UnixDomainSocketAddress.of(file));
        } catch (IOException e) {
            return false;
        }
    }

    /** Removes it, if it is there. */
    void remove() {
        if (placed) {
            placed = false;
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                LOG.debug("cannot delete {}; the next server does", file, e);
            }
        }
    }

    private static Set<PosixFilePermission> permissions(int mask) {
        Set<PosixFilePermission> granted = EnumSet.noneOf(PosixFilePermission.class);
        PosixFilePermission[] all = PosixFilePermission.values(); // from the owner's r to the others' x
        for (int i = 0; i < PERMISSION_BITS; i++) {
            if ((mask >>> (PERMISSION_BITS - 1 - i) & 1) != 0) {
                granted.add(all[i]);
            }
        }
        return granted;
    }
}
