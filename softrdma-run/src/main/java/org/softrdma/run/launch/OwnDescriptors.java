package org.softrdma.run.launch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.softrdma.net.kernel.Descriptor;

/** Descriptors of the JVM, which a program must not inherit. It does inherit those that this process has inherited. Any thread. */
public final class OwnDescriptors {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    private OwnDescriptors() {}

    /**
     * Keeps those of some files from programs.
     *
     * @param files of this process: jars, and the directory of the JDK
     */
    public static void closeOnExec(List<Path> files) {
        List<Path> real = files.stream().map(OwnDescriptors::real).toList();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path each : descriptors) {
                if (leadsTo(each, real)) {
                    Descriptor.closeOnExec(Integer.parseInt(each.toFile().getName()));
                }
            }
        } catch (IOException e) {
            return; // without /proc the program has some descriptors more
        }
    }

    /** The numbers of those that are open now. */
    public static Set<Integer> open() {
        Set<Integer> numbers = new HashSet<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            descriptors.forEach(
                    each -> numbers.add(Integer.parseInt(each.toFile().getName())));
        } catch (IOException e) {
            return numbers; // without /proc the program has some descriptors more
        }
        numbers.removeIf(each -> !isOpen(each)); // this look had one itself
        return numbers;
    }

    private static boolean isOpen(int number) {
        return Files.exists(DESCRIPTORS.resolve(Integer.toString(number)), LinkOption.NOFOLLOW_LINKS);
    }

    /** Keeps those from programs that were opened since. */
    public static void closeOnExecSince(Set<Integer> before) {
        open().stream().filter(each -> !before.contains(each)).forEach(Descriptor::closeOnExec);
    }

    private static boolean leadsTo(Path descriptor, List<Path> files) {
        try {
            Path target = Files.readSymbolicLink(descriptor);
            return files.stream().anyMatch(target::startsWith);
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    private static Path real(Path file) {
        try {
            return file.toRealPath();
        } catch (IOException e) {
            return file;
        }
    }
}
