package org.softrdma.run.files;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;

/** What a path of a {@link VirtualTree} leads to. */
public sealed interface VirtualNode {
    /** {@code st_mode}: kind and rights. */
    int mode();

    /** {@code d_type} of an entry. */
    default int entryType() {
        return mode() >> 12;
    }

    /**
     * A directory.
     *
     * @param names of its entries, sorted
     */
    record Directory(List<String> names) implements VirtualNode {
        /** Keeps the list. */
        public Directory {
            names = List.copyOf(names);
        }

        @Override
        public int mode() {
            return 0040555;
        }
    }

    /**
     * A file to read.
     *
     * @param source of its text, which may be another one at each reading
     */
    record TextFile(Supplier<String> source) implements VirtualNode {
        /** One that does not change. */
        public TextFile(String text) {
            this(() -> text);
        }

        /** What is in it now. */
        public String text() {
            return source.get();
        }

        @Override
        public int mode() {
            return 0100444;
        }

        byte[] content() {
            return text().getBytes(StandardCharsets.UTF_8);
        }
    }

    /**
     * A character device, which anybody may open.
     *
     * @param major number of its driver
     * @param minor number at its driver
     */
    record CharacterDevice(int major, int minor) implements VirtualNode {
        @Override
        public int mode() {
            return 0020666;
        }
    }
}
