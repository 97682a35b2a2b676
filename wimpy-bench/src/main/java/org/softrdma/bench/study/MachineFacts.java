package org.softrdma.bench.study;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.softrdma.bench.machine.MachineDescription;

/** The machine as a page lists it: names and values. */
public final class MachineFacts {
    private static final double GIB = 1 << 30;

    private MachineFacts() {}

    /** The machine in one line: CPU, kernel, JDK and commit. */
    public static String line(MachineDescription machine) {
        return machine.cpuModel() + " (" + machine.cpus() + " available), " + machine.kernel() + ", " + machine.jdk()
                + ", commit " + Optional.ofNullable(machine.commit()).orElse("unknown");
    }

    /**
     * The facts, each with {@code name} and {@code value}.
     *
     * @param machine what a measurement was taken on
     */
    public static List<Map<String, String>> of(MachineDescription machine) {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("CPU", machine.cpuModel() + ", " + machine.cpus() + " available, " + machine.architecture());
        facts.put("memory", ReportText.number(machine.memoryBytes() / GIB, 1) + " GiB");
        facts.put("kernel", machine.kernel());
        facts.put("JDK", machine.jdk() + " " + String.join(" ", machine.jvmFlags()));
        facts.put("governor", Optional.ofNullable(machine.governor()).orElse("not reported by the kernel"));
        facts.put(
                "huge pages",
                Optional.ofNullable(machine.transparentHugePages()).orElse("not reported by the kernel"));
        facts.put("commit", Optional.ofNullable(machine.commit()).orElse("unknown"));
        return facts.entrySet().stream()
                .map(fact -> Map.of("name", fact.getKey(), "value", fact.getValue()))
                .toList();
    }
}
