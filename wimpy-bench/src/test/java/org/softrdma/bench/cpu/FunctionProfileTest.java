package org.softrdma.bench.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.machine.SystemCommand;

class FunctionProfileTest {
    @TempDir
    private Path directory;

    private static final String REPORT = """
            # of an older perf
                45.00%  [k] _copy_from_iter             \s

                20.50%  [.] 0x00000000000123a4
                10.25%  [.] __memmove_avx_unaligned_erms
                10.00%  [k] 0xffffffff81234567
                 9.50%  [.] 0x0000000000012400
                 0.05%  [k] finish_task_switch.isra.0
            """;

    @Test
    void shouldSumCodeWithoutNames() throws IOException {
        assertEquals(
                Map.of(
                        "_copy_from_iter",
                        45.0,
                        FunctionProfile.OWN_CODE,
                        30.0,
                        "__memmove_avx_unaligned_erms",
                        10.25,
                        FunctionProfile.KERNEL_CODE,
                        10.0,
                        "finish_task_switch.isra.0",
                        0.05),
                FunctionProfile.parse(REPORT).percents());
        assertEquals(
                List.of(45.0, 30.0, 10.25, 10.0, 0.05),
                List.copyOf(FunctionProfile.parse(REPORT).percents().values()),
                "the largest first");
    }

    @Test
    void shouldSayThatThereIsNothing() {
        for (String report : List.of("", "Error: no samples\n")) {
            IOException refused = assertThrows(IOException.class, () -> FunctionProfile.parse(report));
            assertTrue(String.valueOf(refused.getMessage()).contains("names no function"), refused::toString);
        }
    }

    @Test
    void shouldProfileAProcess() throws IOException {
        assumeTrue(canRecord(), "perf cannot be used here");
        try (Child busy = Child.start("busy", List.of("dd", "if=/dev/zero", "of=/dev/null", "bs=64K"))) {
            FunctionProfile profile = FunctionProfile.of(busy.pid(), TimeUnit.MILLISECONDS.toNanos(300), () -> {});
            double sum = profile.percents().values().stream()
                    .mapToDouble(Double::doubleValue)
                    .sum();
            assertTrue(sum > 90 && sum < 110, profile::toString);
        }
    }

    /** The kernel shows its functions to root. */
    private boolean canRecord() {
        try {
            SystemCommand.run(List.of(
                    "perf",
                    "record",
                    "-q",
                    "-e",
                    "cpu-clock",
                    "-o",
                    directory.resolve("probe").toString(),
                    "--",
                    "true"));
            return System.getProperty("user.name").equals("root");
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void shouldSayWhatPerfSaid() {
        assumeTrue(canRecord(), "perf cannot be used here");
        // No process has this number: the kernel's largest is 2^22.
        IOException refused = assertThrows(
                IOException.class, () -> FunctionProfile.of(1L << 30, TimeUnit.MILLISECONDS.toNanos(10), () -> {}));
        assertTrue(String.valueOf(refused.getMessage()).startsWith("perf record failed: "), refused::toString);
    }
}
