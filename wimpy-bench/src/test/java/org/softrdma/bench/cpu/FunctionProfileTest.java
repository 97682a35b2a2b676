package org.softrdma.bench.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.bench.machine.Child;

class FunctionProfileTest {
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
        try (Child busy = Child.start("busy", List.of("sh", "-c", "while :; do :; done"))) {
            FunctionProfile profile;
            try {
                profile = FunctionProfile.of(busy.pid(), TimeUnit.MILLISECONDS.toNanos(300), () -> {});
            } catch (IOException e) {
                assumeTrue(false, "perf cannot be used here: " + e.getMessage());
                return;
            }
            double sum = profile.percents().values().stream()
                    .mapToDouble(Double::doubleValue)
                    .sum();
            assertTrue(sum > 90 && sum < 110, profile::toString);
        }
    }

    @Test
    void shouldSayWhatPerfSaid() {
        // No process has this number: the kernel's largest is 2^22.
        IOException refused = assertThrows(
                IOException.class, () -> FunctionProfile.of(1L << 30, TimeUnit.MILLISECONDS.toNanos(10), () -> {}));
        assertFalse(String.valueOf(refused.getMessage()).isBlank(), refused::toString);
    }
}
