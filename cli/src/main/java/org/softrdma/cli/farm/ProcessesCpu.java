package org.softrdma.cli.farm;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.bench.cpu.CpuClock;

/** CPU time of some processes since it was made. One thread. */
final class ProcessesCpu {
    private final List<CpuClock> clocks = new ArrayList<>();
    private final List<CpuClock.Sample> begun;

    private ProcessesCpu(List<Long> processes) {
        processes.forEach(process -> clocks.add(CpuClock.ofProcess(process)));
        begun = new ArrayList<>();
    }

    /** Of children of this process. */
    static ProcessesCpu of(List<Long> processes) {
        ProcessesCpu cpu = new ProcessesCpu(processes);
        cpu.begin();
        return cpu;
    }

    /** Of children of this process, and of itself. */
    static ProcessesCpu ofThisAnd(List<Long> processes) {
        ProcessesCpu cpu = new ProcessesCpu(processes);
        cpu.clocks.add(CpuClock.ofThisProcess());
        cpu.begin();
        return cpu;
    }

    private void begin() {
        clocks.forEach(clock -> begun.add(clock.sample()));
    }

    /** What they have used, in nanoseconds. */
    long usedNs() {
        long sum = 0;
        for (int i = 0; i < clocks.size(); i++) {
            sum += clocks.get(i).sample().since(begun.get(i)).totalNs();
        }
        return sum;
    }
}
