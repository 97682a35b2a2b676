package org.softrdma.run.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;

/** Faults that change while a program runs. */
@EnabledOnOs(OS.LINUX)
class ControlSocketTest {
    @TempDir
    private Path folder;

    private final CardFaults faults = CardFaults.of(FaultPlan.NONE, true, 1, line -> {}, System::nanoTime);

    private Path path() {
        return folder.resolve("control");
    }

    private ControlSocket open() throws IOException {
        return ControlSocket.open(path(), faults, text -> {
            if (!text.equals("FAULT")) {
                throw new IllegalArgumentException("expected FAULT, not \"" + text + "\"");
            }
            return new Fault(new When.AtTime(0), new What.NoReceives(What.FOREVER));
        });
    }

    private void expect(String command, String... answers) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path()));
                Writer to = Channels.newWriter(channel, StandardCharsets.UTF_8);
                BufferedReader from = new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8))) {
            to.write(command + "\n");
            to.flush();
            for (String answer : answers) {
                assertEquals(answer, from.readLine(), command);
            }
        }
    }

    @Test
    void shouldChangeFaults() throws IOException {
        try (ControlSocket _ = open()) {
            expect("list", "0 faults");
            expect("add FAULT", "added 1");
            faults.runDue();
            assertTrue(faults.withholdsReceives());
            expect(
                    "list",
                    "1: Fault[when=AtTime[ns=0], what=NoReceives[ns=9223372036854775807], perMille=1000, times=1,"
                            + " skipped=0], left 0",
                    "1 faults");
            expect("add FAULT\nremove 2\nclear", "added 2", "removed 2", "cleared");
            assertFalse(faults.withholdsReceives());
        }
        assertFalse(Files.exists(path()));
    }

    @Test
    void shouldAnswerABadLineWithASentence() throws IOException {
        try (ControlSocket _ = open()) {
            expect(
                    "destroy everything",
                    "error: expected add FAULT, remove NUMBER, list or clear, not \"destroy everything\"");
            expect("", "error: expected add FAULT, remove NUMBER, list or clear, not \"\"");
            expect("add nonsense", "error: expected FAULT, not \"nonsense\"");
            expect("remove one", "error: expected the number of a fault, not \"one\"");
            expect("remove 7", "error: there is no fault 7; list shows those that there are");
            expect(
                    "clear all",
                    "error: expected add FAULT, remove NUMBER, list or clear; nothing follows the last two, but"
                            + " \"all\" came");
            expect("x".repeat(100_000) + "\nlist", "error: expected lines of at most 65536 characters", "0 faults");
        }
    }

    @Test
    void shouldBeItsOwnersAlone() throws IOException {
        try (ControlSocket _ = open()) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path())));
        }
    }

    /** One that was left by a process that was killed is replaced; what somebody else has there is not. */
    @Test
    void shouldTakeAPlaceThatNobodyHas() throws IOException {
        ServerSocketChannel left =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path()));
        assertThrows(IOException.class, this::open);
        left.close();
        try (ControlSocket _ = open()) {
            expect("list", "0 faults");
            assertThrows(IOException.class, this::open);
            expect("list", "0 faults");
        }
        Files.writeString(path(), "mine");
        assertThrows(IOException.class, this::open);
        assertEquals("mine", Files.readString(path()));
    }
}
