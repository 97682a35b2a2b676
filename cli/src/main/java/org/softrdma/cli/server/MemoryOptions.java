package org.softrdma.cli.server;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.verbs.MemorySource;
import picocli.CommandLine.Option;

/** How much memory {@code softrdma server} keeps items in, how it is divided and registered, and when it is pinned. */
final class MemoryOptions {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final int MAX_ITEM_MIB = 15;
    private static final long MAX_MEGABYTES = 1L << 26;
    private static final String EAGER = "eager";
    private static final List<String> PINNINGS = List.of("auto", "lazy", EAGER, "off");

    @Option(
            names = "--registration",
            paramLabel = "HOW",
            defaultValue = "arena",
            description =
                    "arena: items are read by the place where they are, on every device. chunk: each chunk of memory"
                            + " has a key of its own, which stays with an item while it is replaced, and is read whole; needs a"
                            + " device that can swap regions (${DEFAULT-VALUE}).")
    private String registration = "";

    @Option(
            names = {"-m", "--memory-limit"},
            paramLabel = "MB",
            defaultValue = "64",
            description = "Memory for items in megabytes (${DEFAULT-VALUE}).")
    private long memoryLimit;

    @Option(
            names = {"-I", "--max-item-size"},
            paramLabel = "SIZE",
            defaultValue = "1m",
            description = "Longest item with key and header, 1k to 15m (${DEFAULT-VALUE}).")
    private String maxItemSize = "";

    @Option(
            names = {"-f", "--slab-growth-factor"},
            paramLabel = "FACTOR",
            defaultValue = "1.25",
            description = "Growth of chunk sizes (${DEFAULT-VALUE}).")
    private double factor;

    @Option(
            names = {"-n", "--slab-min-size"},
            paramLabel = "BYTES",
            defaultValue = "48",
            description = "Length of the smallest chunks, less 48 (${DEFAULT-VALUE}).")
    private int minimumSpace;

    @Option(
            names = {"-M", "--disable-evictions"},
            description = "Answer SERVER_ERROR when memory is used up, instead of evicting items.")
    private boolean noEvictions;

    @Option(
            names = "--pinning",
            paramLabel = "HOW",
            description =
                    "When the items' memory is locked in RAM: lazy (each part on its first use), eager (all at the start), off,"
                            + " or auto: lazy where the device can, else off (auto).")
    private @Nullable String pinning;

    @Option(
            names = "--pin-budget",
            paramLabel = "SIZE",
            description =
                    "Most memory that lazy pinning locks at once, such as 64m (as much as the limit of locked memory"
                            + " allows, half of the machine's at most).")
    private @Nullable String pinBudget;

    @Option(
            names = "--memory-file",
            paramLabel = "FILE",
            description =
                    "Keep items in a file of this name, which must not exist and loses its name at once, so that items"
                            + " that nobody asks for can leave RAM without swap.")
    private @Nullable Path memoryFile;

    @Option(
            names = {"-k", "--lock-memory"},
            description = "The same as --pinning eager.")
    private boolean lockMemory;

    @Option(
            names = {"-L", "--enable-largepages"},
            description = "Keep items in huge pages that the administrator has reserved; those are never paged out.")
    private boolean largePages;

    MemoryOptions() {}

    void check(OptionFaults faults) {
        checkPinning(faults);
        faults.check(!largePages || memoryFile == null, "-L --memory-file " + memoryFile, "one of them");
        faults.check(
                memoryLimit >= 2 && memoryLimit <= MAX_MEGABYTES,
                "-m " + memoryLimit,
                "2 to " + MAX_MEGABYTES + " megabytes");
        int itemSize = itemSize();
        faults.check(
                itemSize >= KIB && itemSize <= MAX_ITEM_MIB * MIB, "-I " + maxItemSize, "1k to " + MAX_ITEM_MIB + "m");
        faults.check(
                memoryLimit >= 2L * itemSize / MIB,
                "-m " + memoryLimit,
                "at least twice the longest item, -I " + maxItemSize);
        faults.check(factor >= 1.01 && factor <= 16, "-f " + factor, "1.01 to 16");
        faults.check(minimumSpace >= 1 && minimumSpace <= itemSize / 2, "-n " + minimumSpace, "1 to half of -I");
    }

    private void checkPinning(OptionFaults faults) {
        faults.check(
                pinning == null || PINNINGS.contains(pinning),
                "--pinning " + pinning,
                "one of " + String.join(", ", PINNINGS));
        faults.check(!lockMemory || pinning == null || pinning.equals(EAGER), "-k --pinning " + pinning, "one of them");
        boolean noBudget = lockMemory || EAGER.equals(pinning) || "off".equals(pinning);
        faults.check(
                pinBudget == null || !noBudget,
                "--pin-budget " + pinBudget,
                "--pinning lazy or auto with it, a budget is for what is pinned lazily");
    }

    /** The device options that pin as the user asked; empty if he did not. */
    Map<String, String> pinningOptions() {
        Map<String, String> asked = new LinkedHashMap<>();
        if (pinning != null || lockMemory) {
            asked.put("pinning", pinning != null ? pinning : EAGER);
        }
        if (pinBudget != null) {
            asked.put("pin-budget", pinBudget);
        }
        return asked;
    }

    /**
     * Sets what the options say.
     *
     * @param context takes it
     * @throws IllegalArgumentException if there is no such registration
     */
    void apply(KvServerContext context) {
        context.memoryLimit(memoryLimit * MIB)
                .maxItemLength(itemSize())
                .slabFactor(factor)
                .minimumSpace(minimumSpace)
                .registration(registration())
                .evicting(!noEvictions)
                .memory(memory());
    }

    private MemorySource memory() {
        if (memoryFile != null) {
            return new MemorySource.File(memoryFile);
        }
        return largePages ? new MemorySource.HugePages() : new MemorySource.Anonymous();
    }

    private KvServerContext.Registration registration() {
        return Stream.of(KvServerContext.Registration.values())
                .filter(each -> each.word().equals(registration))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("--registration " + registration + ": expected arena or chunk"));
    }

    private int itemSize() {
        return ExtendedOptions.size("-I " + maxItemSize, maxItemSize);
    }
}
