package org.softrdma.cli.server;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.ItemSettings;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.verbs.MemorySource;
import picocli.CommandLine.Option;

/** How much memory {@code softrdma server} keeps items in, how it is divided and registered, and when it is pinned. */
final class MemoryOptions {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final int MAX_ITEM_MIB = 15;
    private static final long MAX_MEGABYTES = 1L << 26;
    private static final String AUTO = "auto";
    private static final String EAGER = "eager";
    private static final List<String> PINNINGS = List.of(AUTO, "lazy", EAGER, "off");

    private static final List<String> SAME_HOST = List.of(AUTO, "off");

    @Option(
            names = "--registration",
            paramLabel = "HOW",
            defaultValue = "arena",
            description = "How clients address items. arena: by their place in memory; works on every device."
                    + " chunk: by a key of each chunk of memory, which an item keeps when it is"
                    + " replaced; a READ fetches the whole chunk, and the device must be able to"
                    + " swap regions (${DEFAULT-VALUE}).")
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
            description = "Maximum size of an item with its key and header, 1k to 15m (${DEFAULT-VALUE}).")
    private String maxItemSize = "";

    @Option(
            names = {"-f", "--slab-growth-factor"},
            paramLabel = "FACTOR",
            defaultValue = "1.25",
            description = "Growth factor of chunk sizes (${DEFAULT-VALUE}).")
    private double factor;

    @Option(
            names = {"-n", "--slab-min-size"},
            paramLabel = "BYTES",
            defaultValue = "48",
            description = "Minimum space for an item; the smallest chunks are 48 bytes longer (${DEFAULT-VALUE}).")
    private int minimumSpace;

    @Option(
            names = {"-M", "--disable-evictions"},
            description = "Answer SERVER_ERROR when memory runs out, instead of evicting items.")
    private boolean noEvictions;

    @Option(
            names = {"-C", "--disable-cas"},
            description = "Give items no CAS values: clients see 0, and no cas command stores.")
    private boolean noCas;

    @Option(
            names = "--pinning",
            paramLabel = "HOW",
            description =
                    "When to lock the items' memory in RAM: lazy (each part on first use), eager (all of it at start,"
                            + " or the server does not start), off, or auto: lazy where the device supports it, otherwise"
                            + " off (auto).")
    private @Nullable String pinning;

    @Option(
            names = "--pin-budget",
            paramLabel = "SIZE",
            description = "Maximum memory that lazy pinning locks at a time, such as 64m (as much as the"
                    + " locked-memory limit allows, at most half of the machine's memory).")
    private @Nullable String pinBudget;

    @Option(
            names = "--memory-file",
            paramLabel = "FILE",
            description = "Keep items in this file, so that unused items can leave RAM without swap. The file"
                    + " must not exist; its name is removed at once.")
    private @Nullable Path memoryFile;

    @Option(
            names = {"-k", "--lock-memory"},
            description = "Same as --pinning eager.")
    private boolean lockMemory;

    @Option(
            names = {"-L", "--enable-largepages"},
            description = "Keep items in huge pages that the administrator has reserved. Huge pages are"
                    + " never paged out.")
    private boolean largePages;

    @Option(
            names = "--same-host",
            paramLabel = "HOW",
            defaultValue = "off",
            description =
                    "auto: let clients of this user on this host map the items' memory read-only and read it without"
                            + " the server; all others use the device. off: all READs use the device"
                            + " (${DEFAULT-VALUE}).")
    private String sameHost = "";

    MemoryOptions() {}

    void check(OptionFaults faults) {
        checkPinning(faults);
        faults.check(SAME_HOST.contains(sameHost), "--same-host " + sameHost, "one of " + String.join(", ", SAME_HOST));
        faults.check(
                !sameHost.equals(AUTO) || (!largePages && memoryFile == null),
                "--same-host auto and " + (largePages ? "-L" : "--memory-file " + memoryFile),
                "only one of them");
        faults.check(!largePages || memoryFile == null, "-L and --memory-file " + memoryFile, "only one of them");
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
                "at least twice the largest item, -I " + maxItemSize);
        faults.check(factor >= 1.01 && factor <= 16, "-f " + factor, "1.01 to 16");
        faults.check(minimumSpace >= 1 && minimumSpace <= itemSize / 2, "-n " + minimumSpace, "1 to half of -I");
    }

    private void checkPinning(OptionFaults faults) {
        faults.check(
                pinning == null || PINNINGS.contains(pinning),
                "--pinning " + pinning,
                "one of " + String.join(", ", PINNINGS));
        faults.check(
                !lockMemory || pinning == null || pinning.equals(EAGER),
                "-k and --pinning " + pinning,
                "only one of them");
        boolean noBudget = lockMemory || EAGER.equals(pinning) || "off".equals(pinning);
        faults.check(
                pinBudget == null || !noBudget,
                "--pin-budget " + pinBudget,
                "--pinning lazy or auto, because the budget limits lazy pinning");
    }

    /**
     * A sentence if the items do not fit into the machine.
     *
     * @param machineBytes its memory, or that of the container
     */
    Optional<String> warning(long machineBytes) {
        return memoryFile != null || memoryLimit * MIB <= machineBytes
                ? Optional.empty()
                : Optional.of("-m " + memoryLimit + ": this machine or container has " + machineBytes / MIB
                        + " MB of memory, so the server will be killed or swapped out when the items need more");
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
        context.items(items -> items.memoryLimit(memoryLimit * MIB)
                .takenAtStart(lockMemory || EAGER.equals(pinning))
                .maxItemLength(itemSize())
                .slabFactor(factor)
                .minimumSpace(minimumSpace)
                .registration(registration())
                .evicting(!noEvictions)
                .casNumbers(!noCas)
                .memory(memory()));
    }

    private MemorySource memory() {
        if (memoryFile != null) {
            return new MemorySource.File(memoryFile);
        }
        if (sameHost.equals(AUTO)) {
            return new MemorySource.Shareable();
        }
        return largePages ? new MemorySource.HugePages() : new MemorySource.Anonymous();
    }

    private ItemSettings.Registration registration() {
        return Stream.of(ItemSettings.Registration.values())
                .filter(each -> each.word().equals(registration))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("--registration " + registration + ": expected arena or chunk"));
    }

    private int itemSize() {
        return ExtendedOptions.size("-I " + maxItemSize, maxItemSize);
    }
}
