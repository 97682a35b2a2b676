package org.softrdma.sim;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Loads all classes of this project, and opens all files of the class path, without initializing anything: in a process
 * that has no descriptors left a class loader finds nothing. Stateless.
 */
final class LoadedClasses {
    private static final String SUFFIX = ".class";

    private LoadedClasses() {}

    static void load() throws Exception {
        ClassLoader loader = LoadedClasses.class.getClassLoader();
        if (loader.getResource("no/such/resource") != null) {
            throw new AssertionError("a resource that nobody has");
        }
        for (Class<?> one : List.of(SoftRdmaProvider.class, VerbsDevice.class, LoadedClasses.class)) {
            Path root = Path.of(
                    one.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(root)) { // a jar is open
                load(root, loader);
            }
        }
    }

    private static void load(Path root, ClassLoader loader) throws IOException, ClassNotFoundException {
        List<String> names;
        try (Stream<Path> files = Files.walk(root)) {
            names = files.map(file -> root.relativize(file).toString())
                    .filter(name -> name.startsWith("org/softrdma/") && name.endsWith(SUFFIX))
                    .filter(name -> !name.contains("-info") && !name.contains("Test"))
                    .map(name ->
                            name.substring(0, name.length() - SUFFIX.length()).replace('/', '.'))
                    .toList();
        }
        for (String name : names) {
            Class<?> ignored = Class.forName(name, false, loader);
        }
        for (String name : List.of("io.netty.channel.epoll.EpollIoHandler", "io.netty.channel.ChannelException")) {
            Class<?> ignored = Class.forName(name, false, loader);
        }
    }
}
