package org.softrdma.run.host;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** rdma-core's driver of SoftRoCE, without which programs see a card and cannot open it. */
public final class RxeDriver {
    private static final String DRIVERS = "libibverbs";
    private static final String FILES = "librxe-rdmav*.so";
    private static final List<String> DIRECTORIES = List.of("/usr/lib", "/usr/lib64", "/lib", "/usr/local/lib");

    private RxeDriver() {}

    /** Whether the distribution's is there. */
    public static HostFinding find() {
        for (String each : DIRECTORIES) {
            for (Path directory : candidates(Path.of(each))) {
                if (isIn(directory)) {
                    return new HostFinding("driver", true, "librxe is in " + directory);
                }
            }
        }
        return new HostFinding(
                "driver",
                false,
                "librxe, rdma-core's driver of SoftRoCE, is not below " + String.join(", ", DIRECTORIES)
                        + ": install ibverbs-providers (Debian, Ubuntu) or libibverbs (Fedora, RHEL)");
    }

    /** In a directory of libraries, or in that of an architecture below it. */
    private static List<Path> candidates(Path libraries) {
        List<Path> found = new ArrayList<>(List.of(libraries.resolve(DRIVERS)));
        try (DirectoryStream<Path> ofArchitectures = Files.newDirectoryStream(libraries, "*-linux-*")) {
            ofArchitectures.forEach(each -> found.add(each.resolve(DRIVERS)));
            return found;
        } catch (IOException e) {
            return found; // a directory that other distributions have
        }
    }

    private static boolean isIn(Path directory) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, FILES)) {
            return found.iterator().hasNext();
        } catch (IOException e) {
            return false;
        }
    }
}
