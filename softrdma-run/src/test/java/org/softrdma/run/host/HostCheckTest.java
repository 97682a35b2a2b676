package org.softrdma.run.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostCheckTest {
    @ParameterizedTest
    @CsvSource({
        "6.18.44-fc, true",
        "5.14.0, true",
        "5.13.19-generic, false",
        "4.20.1, false",
        "10.0, true",
        "5.9.1, false",
        "'', true"
    })
    void shouldKnowWhichKernelsCanGiveAProgramADescriptor(String release, boolean good) {
        HostFinding finding = HostCheck.ofKernel(release);
        assertEquals(good, finding.good(), finding::sentence);
        assertEquals(!good, finding.sentence().contains("5.14 or newer"), finding::sentence);
    }

    @Test
    void shouldSayWhatToDo() {
        assertTrue(HostCheck.ofOpenFiles(255).sentence().contains("ulimit -n"));
        assertTrue(HostCheck.ofMemory(1, "").sentence().contains("profile"));
        assertTrue(HostCheck.ofMemory(0, "2").sentence().contains("ptrace_scope to 1"));
        assertFalse(HostCheck.ofMemory(0, "3").good());
        assertTrue(HostCheck.ofMemory(0, "1").good());
        assertTrue(HostCheck.ofMemory(0, "").good());
        assertFalse(HostCheck.ofArchitecture("riscv64").good());
        assertTrue(HostCheck.ofArchitecture("aarch64").sentence().contains("not been tried"));
        assertFalse(HostCheck.ofSeccomp(Optional.of("forbidden")).good());
        assertTrue(HostCheck.ofOpenFiles(256).good());
    }

    @ParameterizedTest
    @CsvSource({
        "'10 (a) b) S 1 10 10 34816 10 4194560', true",
        "'10 (bash) S 1 10 10 34816 11 4194560', false",
        "'10 (java) S 1 10 10 0 -1 4194560', false",
        "'10 (java)', false"
    })
    void shouldKnowWhetherATerminalSendsItSignals(String line, boolean sends) {
        assertEquals(sends, Terminal.isInForeground(line));
    }
}
