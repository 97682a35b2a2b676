package org.softrdma.cli.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.softrdma.cli.command.UserErrorException;

/**
 * The user that a process runs as, and how it becomes another: by the C library, whose setuid changes all threads of a
 * process. Before the process has opened anything, on its main thread.
 */
final class ProcessUser {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    /** The beginning of C's {@code struct passwd}, the same on Linux, BSD and macOS. */
    private static final MemoryLayout PASSWD = MemoryLayout.structLayout(
            ValueLayout.ADDRESS.withName("pw_name"),
            ValueLayout.ADDRESS.withName("pw_passwd"),
            INT.withName("pw_uid"),
            INT.withName("pw_gid"));

    private static final Path THREADS = Path.of("/proc/self/task");
    private static final int ROOT = 0;

    private ProcessUser() {}

    /**
     * Becomes a user, with its groups, unless the process is that user already.
     *
     * @param name of the user
     * @throws UserErrorException if there is no such user, or the process may not become another
     */
    @SuppressWarnings("restricted")
    static void become(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment cName = arena.allocateFrom(name);
            MemorySegment entry = (MemorySegment)
                    function("getpwnam", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS))
                            .invokeExact(cName);
            if (entry.equals(MemorySegment.NULL)) {
                throw new UserErrorException("-u " + name + ": there is no such user.");
            }
            MemorySegment passwd = entry.reinterpret(PASSWD.byteSize());
            int user = passwd.get(INT, PASSWD.byteOffset(PathElement.groupElement("pw_uid")));
            int group = passwd.get(INT, PASSWD.byteOffset(PathElement.groupElement("pw_gid")));
            int now = (int) function("geteuid", FunctionDescriptor.of(INT)).invokeExact();
            if (user == now) {
                return;
            }
            if (now != ROOT) {
                throw new UserErrorException("-u " + name + ": only root can become another user. Start the server as "
                        + name + ", or leave out -u.");
            }
            int groups = (int) function("initgroups", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT))
                    .invokeExact(cName, group);
            int grouped =
                    (int) function("setgid", FunctionDescriptor.of(INT, INT)).invokeExact(group);
            int changed =
                    (int) function("setuid", FunctionDescriptor.of(INT, INT)).invokeExact(user);
            if (groups != 0 || grouped != 0 || changed != 0 || !runsAs(user)) {
                throw new UserErrorException("-u " + name + ": the system does not let this process become that user.");
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // none of these functions throws
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.defaultLookup()
                .find(name)
                .map(address -> linker.downcallHandle(address, descriptor))
                .orElseThrow(() -> new UserErrorException("-u: the C library of this system has no " + name + "."));
    }

    /** True if every thread is that user, as far as the system tells. */
    private static boolean runsAs(int user) {
        if (!Files.isDirectory(THREADS)) {
            return true;
        }
        try (Stream<Path> threads = Files.list(THREADS)) {
            return threads.allMatch(
                    thread -> userOf(thread).isEmpty() || userOf(thread).equals(ids(user)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Real, effective, saved and file system's. */
    private static List<String> ids(int user) {
        String id = Integer.toUnsignedString(user);
        return List.of(id, id, id, id);
    }

    /** Empty if the thread has just ended. */
    private static List<String> userOf(Path thread) {
        try (Stream<String> lines = Files.lines(thread.resolve("status"))) {
            return lines.filter(line -> line.startsWith("Uid:"))
                    .flatMap(line -> Stream.of(line.split("\\s+")).skip(1))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
    }
}
