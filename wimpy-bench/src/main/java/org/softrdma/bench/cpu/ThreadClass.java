package org.softrdma.bench.cpu;

import java.util.List;
import java.util.Locale;

/** What a thread of one of our servers is for, told by its name as the kernel keeps it (15 characters). */
public enum ThreadClass {
    /** Serves remote READs, WRITEs and SENDs: the software RNIC, or a C responder. */
    RNIC(List.of("rnic", "softrdma", "sim-", "sim", "iwarp", "read_responder", "message_respond")),
    /** Works for the store of the key-value server besides its memcached port: answers misses, takes touch reports, evicts. */
    STORE(List.of("store", "kv-store", "kv-rdma-", "kv-maintenance")),
    /** Serves the memcached port, ours or memcached's own. */
    MEMCACHED(List.of("memcached", "kv-", "mc-")),
    /** Compiles bytecode. */
    JIT(List.of("C1 Compiler", "C2 Compiler", "JVMCI", "Sweeper", "CodeHeap")),
    /** Collects garbage. */
    GC(List.of(
            "GC ", "G1 ", "ZWorker", "ZDriver", "ZDirector", "ZStat", "ZUnmapper", "ZUncommit", "Shenandoah", "PS ")),
    /** Belongs to the virtual machine. */
    JVM(List.of(
            "VM ",
            "Signal Dispatch",
            "Finalizer",
            "Reference Handl",
            "Service Thread",
            "Monitor Deflati",
            "Common-Cleaner",
            "Notification Th",
            "Attach Listener",
            "JFR ",
            "Cleaner-")),
    /** Anything else: the main thread, threads of a program that is not ours. */
    OTHER(List.of());

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> prefixes;

    ThreadClass(List<String> prefixes) {
        this.prefixes = prefixes;
    }

    /** The class of a thread. */
    public static ThreadClass of(String name) {
        for (ThreadClass candidate : values()) {
            for (String prefix : candidate.prefixes) {
                if (name.startsWith(prefix)) {
                    return candidate;
                }
            }
        }
        return OTHER;
    }

    /** The name in tables and results. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
