package org.softrdma.run.files;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Paths and what they lead to. Covers whole directories: below its roots, what it does not have is not there. Immutable. */
public final class VirtualTree {
    private static final String SEPARATOR = "/";

    private final List<String> roots;
    private final Map<String, VirtualNode> nodes;
    private final Map<String, Integer> numbers = new HashMap<>();

    private VirtualTree(List<String> roots, Map<String, VirtualNode> nodes) {
        this.roots = roots;
        this.nodes = nodes;
        for (String path : nodes.keySet()) {
            numbers.put(path, numbers.size() + 1);
        }
    }

    /** Begins a tree. */
    public static Builder builder() {
        return new Builder();
    }

    /** Whether a path, without {@code .} and {@code ..}, is this tree's to answer. */
    public boolean covers(String path) {
        for (String root : roots) {
            if (path.startsWith(root)
                    && (path.length() == root.length() || path.startsWith(SEPARATOR, root.length()))) {
                return true;
            }
        }
        return false;
    }

    /** What a path leads to; null if nothing is there. */
    public @Nullable VirtualNode node(String path) {
        return nodes.get(path);
    }

    /** The inode's number of a path that leads somewhere. */
    public int number(String path) {
        return numbers.getOrDefault(path, 0);
    }

    /** A tree that is being written. Files make the directories above them. */
    public static final class Builder {
        private final List<String> roots = new ArrayList<>();
        private final Map<String, VirtualNode> leaves = new TreeMap<>();

        private Builder() {}

        /** A directory that is covered with all that is below it. */
        public Builder root(String path) {
            roots.add(path);
            return this;
        }

        /** A file of one line. */
        public Builder line(String path, Object text) {
            return node(path, new VirtualNode.TextFile(text + "\n"));
        }

        /** Something at a path. */
        public Builder node(String path, VirtualNode node) {
            leaves.put(path, node);
            return this;
        }

        /** The tree. */
        public VirtualTree build() {
            Map<String, SortedSet<String>> directories = new TreeMap<>();
            for (String root : roots) {
                directories.put(root, new TreeSet<>());
            }
            roots.forEach(root -> enter(directories, root));
            leaves.keySet().forEach(leaf -> {
                if (roots.stream().noneMatch(root -> leaf.startsWith(root + SEPARATOR))) {
                    throw new IllegalArgumentException(leaf + " is below none of " + roots);
                }
                enter(directories, leaf);
            });
            Map<String, VirtualNode> nodes = new TreeMap<>(leaves);
            directories.forEach((path, names) -> nodes.put(path, new VirtualNode.Directory(List.copyOf(names))));
            return new VirtualTree(List.copyOf(roots), nodes);
        }

        /** Up to the first one, so that a root's {@code ..} leads somewhere. */
        private static void enter(Map<String, SortedSet<String>> directories, String leaf) {
            String path = leaf;
            for (int end = path.lastIndexOf(SEPARATOR); end > 0; end = path.lastIndexOf(SEPARATOR)) {
                String name = path.substring(end + 1);
                path = path.substring(0, end);
                directories.computeIfAbsent(path, ignored -> new TreeSet<>()).add(name);
            }
        }
    }
}
