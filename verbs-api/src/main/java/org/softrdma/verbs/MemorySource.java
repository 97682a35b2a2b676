package org.softrdma.verbs;

import java.nio.file.Path;

/** Where the pages of {@link org.softrdma.verbs.device.VerbsDevice#allocateMemory(long, MemorySource)} come from. */
public sealed interface MemorySource {
    /** Private memory of this process. The kernel can page it out only to swap, if there is any. */
    record Anonymous() implements MemorySource {}

    /**
     * Anonymous huge pages that the administrator has reserved (vm.nr_hugepages). The kernel never pages them out.
     */
    record HugePages() implements MemorySource {}

    /** A nameless file in memory (memfd_create(2), tmpfs). */
    record SharedMemory() implements MemorySource {}

    /**
     * Memory that the device may show to other processes of this user on this host, for reading only, once it has accepted
     * a connection of theirs: they can READ it without this process. They can see all of it, whatever is registered.
     */
    record Shareable() implements MemorySource {}

    /**
     * A new file, so that unused pages can leave memory without swap. Its blocks are reserved at once, so that a disk
     * that fills up later does no harm, and its name is removed at once, so that no file remains.
     *
     * @param path name of a file that does not exist yet, on tmpfs or on a disk
     */
    record File(Path path) implements MemorySource {}
}
