package org.softrdma.cli.arrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The main source files of a checkout and the arrows between them. A file has an arrow to each file whose class it imports, or
 * names without an import; comments and strings do not count, nested classes count with their file. Sources are read and not
 * class files, because a constant that the compiler copies is an arrow as well.
 */
final class SourceGraph {
    private static final String SOURCES = "src/main/java";

    private final Path checkout;
    private final SortedMap<String, SourceFile> files = new TreeMap<>();
    /** By class, the classes that it uses, with the lines. */
    private final SortedMap<String, SortedMap<String, List<Integer>>> uses = new TreeMap<>();

    private SourceGraph(Path checkout, List<SourceFile> found) {
        this.checkout = checkout;
        found.forEach(file -> files.put(file.className(), file));
        files.forEach((name, file) -> uses.put(name, new TreeMap<>(file.uses(files.keySet()))));
    }

    /**
     * The main code of every Maven module.
     *
     * @param checkout the directory with the modules
     */
    static SourceGraph ofCheckout(Path checkout) throws IOException {
        List<SourceFile> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(checkout)) {
            for (Path module : modules.sorted().toList()) {
                if (Files.isDirectory(module.resolve(SOURCES))) {
                    read(found, module.getFileName().toString(), module.resolve(SOURCES));
                }
            }
        }
        return new SourceGraph(checkout, found);
    }

    /**
     * All sources below a directory, as one module.
     *
     * @param directory where they are
     * @param module its name
     */
    static SourceGraph ofModule(Path directory, String module) throws IOException {
        List<SourceFile> found = new ArrayList<>();
        read(found, module, directory);
        return new SourceGraph(directory, found);
    }

    private static void read(List<SourceFile> found, String module, Path sources) throws IOException {
        try (Stream<Path> paths = Files.walk(sources)) {
            for (Path path : paths.sorted().toList()) {
                String name = path.getFileName().toString();
                if (name.endsWith(".java") && !name.equals("package-info.java") && !name.equals("module-info.java")) {
                    found.add(SourceFile.read(module, path));
                }
            }
        }
    }

    /** The files by the name of their class. */
    SortedMap<String, SourceFile> files() {
        return files;
    }

    /** The module of each package. */
    SortedMap<String, String> packages() {
        SortedMap<String, String> packages = new TreeMap<>();
        files.values().forEach(file -> packages.put(file.packageName(), file.module()));
        return packages;
    }

    /** The classes that each class uses. */
    SortedMap<String, SortedSet<String>> classArrows() {
        SortedMap<String, SortedSet<String>> arrows = new TreeMap<>();
        uses.forEach((name, used) -> arrows.put(name, new TreeSet<>(used.keySet())));
        return arrows;
    }

    /** The packages that each package uses, other than itself. */
    SortedMap<String, SortedSet<String>> packageArrows() {
        SortedMap<String, SortedSet<String>> arrows = new TreeMap<>();
        files.values().forEach(file -> arrows.put(file.packageName(), new TreeSet<>()));
        uses.forEach((name, used) -> used.keySet().forEach(other -> {
            if (!packageOf(name).equals(packageOf(other))) {
                arrows.getOrDefault(packageOf(name), new TreeSet<>()).add(packageOf(other));
            }
        }));
        return arrows;
    }

    /** The modules that each module uses, other than itself. */
    SortedMap<String, SortedSet<String>> moduleArrows() {
        Map<String, String> modules = packages();
        SortedMap<String, SortedSet<String>> arrows = new TreeMap<>();
        modules.values().forEach(module -> arrows.put(module, new TreeSet<>()));
        packageArrows()
                .forEach((name, used) -> used.forEach(other -> {
                    if (!modules.getOrDefault(name, "").equals(modules.getOrDefault(other, ""))) {
                        arrows.getOrDefault(modules.getOrDefault(name, ""), new TreeSet<>())
                                .add(modules.getOrDefault(other, ""));
                    }
                }));
        return arrows;
    }

    /** Where a class uses another: the file, and the lines. */
    String place(String from, String to) {
        List<Integer> lines = uses.getOrDefault(from, new TreeMap<>()).getOrDefault(to, List.of());
        SourceFile file = files.get(from);
        if (file == null || lines.isEmpty()) {
            return "";
        }
        return checkout.relativize(file.path()) + ":" + lines.getFirst()
                + (lines.size() > 1 ? " and " + (lines.size() - 1) + " more" : "");
    }

    /** How often a class names another. */
    int weight(String from, String to) {
        return uses.getOrDefault(from, new TreeMap<>())
                .getOrDefault(to, List.of())
                .size();
    }

    /** The package of a class. */
    static String packageOf(String className) {
        return className.substring(0, Math.max(0, className.lastIndexOf('.')));
    }
}
