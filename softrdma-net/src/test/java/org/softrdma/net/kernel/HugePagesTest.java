package org.softrdma.net.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Huge pages are asked for unless the hypervisor copies page tables, or the administrator has disabled them. */
class HugePagesTest {
    private static final String SETTINGS = "/sys/kernel/mm/transparent_hugepage/";
    private static final int PAGES = 64;

    @Test
    void shouldTellAMachineThatCopiesItsPageTables() {
        assertTrue(HugePages.isCopied(times(6172), times(29)), "as measured in such a virtual machine");
        assertTrue(HugePages.isCopied(times(7755), times(900)), "by code that is interpreted");
        assertFalse(HugePages.isCopied(times(95), times(29)), "a miss of the TLB");
        assertFalse(HugePages.isCopied(times(1400), times(900)), "a miss of the TLB, by code that is interpreted");
    }

    @Test
    void shouldNotCareAboutASlowMinority() {
        long[] interrupted = times(95);
        Arrays.fill(interrupted, 0, PAGES / 2 - 1, 3_000_000);
        assertFalse(HugePages.isCopied(interrupted, times(29)));
        assertFalse(HugePages.isCopied(times(95), times(3_000)), "the second time was slower");
    }

    @Test
    void shouldHaveTheKernelsSizeUnlessTheyAreNotWorthwhile() {
        List<String> enabled = ProcFile.lines(SETTINGS + "enabled");
        List<String> bytes = ProcFile.lines(SETTINGS + "hpage_pmd_size");
        boolean made = !enabled.isEmpty() && !enabled.getFirst().contains("[never]") && !bytes.isEmpty();
        String expected = made && HugePages.areWorthwhile() ? bytes.getFirst().trim() : "0";
        assertEquals(expected, String.valueOf(HugePages.bytes()));
        assertEquals(HugePages.areWorthwhile(), HugePages.obstacle().isEmpty());
    }

    private static long[] times(long ns) {
        long[] times = new long[PAGES];
        Arrays.fill(times, ns);
        return times;
    }
}
