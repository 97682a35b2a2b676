package org.softrdma.kv.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.binary.BinaryOperation;
import org.softrdma.kv.client.MemcachedProcess;
import org.softrdma.kv.memcached.TextCommand;
import org.softrdma.kv.server.BinaryClient;
import org.softrdma.kv.server.RawMemcached;
import org.softrdma.kv.server.RunningServer;

/**
 * The tables of docs/reference/memcached.md say what becomes of each command, and how it differs from memcached: they are
 * generated from the tables by which requests are decoded, and from lists that are tested. {@code -Dsoftrdma.draw=true}
 * writes them anew.
 */
class ReferenceTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "memcached.md");

    /** Lines that are not told by a word, and commands that memcached has not. */
    private static final Set<TextCommand> OTHERS = EnumSet.of(
            TextCommand.INVALID,
            TextCommand.CLOSE,
            TextCommand.DEBUGTIME,
            TextCommand.RDMA_HELLO,
            TextCommand.RDMA_ARENAS,
            TextCommand.RGET);

    private static RunningServer server() {
        return new RunningServer(context -> context.version("1.6.18-softrdma"));
    }

    private static String firstLine(RunningServer server, String request) throws IOException {
        try (RawMemcached client = new RawMemcached(server.address())) {
            client.send(request + "\r\n");
            return client.readLine();
        }
    }

    @Test
    void shouldAnswerACommandAsTheReferenceSays() throws Exception {
        try (RunningServer server = server()) {
            for (MemcachedCommand each : MemcachedCommand.values()) {
                for (Map.Entry<String, String> example : each.answers().entrySet()) {
                    boolean needsCas = (example.getKey() + example.getValue()).contains("CAS");
                    String cas = needsCas ? firstLine(server, "mg a c").substring("HD c".length()) : "";
                    assertEquals(
                            example.getValue().replace("CAS", cas),
                            firstLine(server, example.getKey().replace("CAS", cas)),
                            example.getKey());
                }
            }
        }
    }

    @Test
    void shouldNameEveryCommandInTheReference() {
        Set<TextCommand> named = EnumSet.copyOf(OTHERS);
        for (MemcachedCommand each : MemcachedCommand.values()) {
            named.add(each.command());
        }
        assertEquals(EnumSet.allOf(TextCommand.class), named);
    }

    /** What memcached itself does with an operation in each of its protocols. */
    @Test
    void shouldTreatTheProtocolsAsMemcachedDoes() throws Exception {
        try (MemcachedProcess memcached = new MemcachedProcess();
                RunningServer server = server()) {
            assertEquals(protocols(memcached.address()), protocols(server.address()));
        }
    }

    private static String protocols(InetSocketAddress address) throws IOException {
        List<String> rows = new ArrayList<>();
        rows.add("| What | Classic | Meta | Binary |\n|---|---|---|---|");
        try (ProtocolDifference.Three three = new ProtocolDifference.Three(address)) {
            for (ProtocolDifference each : ProtocolDifference.values()) {
                rows.add(each.row(three));
            }
        }
        return String.join("\n", rows) + "\n";
    }

    private static String binary(RunningServer server) throws IOException {
        List<String> rows = new ArrayList<>();
        rows.add("| Operation | Opcode | Quiet | Bytes of extras | Key | Value | Answer | If the key is not there |");
        rows.add("|---|---|---|--:|---|---|---|---|");
        for (BinaryOperation each : BinaryOperation.values()) {
            if (each != BinaryOperation.UNKNOWN) {
                rows.add("| `" + each.name().toLowerCase(Locale.ROOT) + "` | " + hex(each.opcode()) + " | "
                        + (each.hasQuietForm() ? hex(each.quietOpcode()) : "") + " | " + each.extrasLength() + " | "
                        + (each.hasKey() ? "yes" : "") + " | " + (each.hasValue() ? "yes" : "") + " | "
                        + answer(server, each, "there") + " | " + (each.hasKey() ? answer(server, each, "gone") : "")
                        + " |");
            }
        }
        return String.join("\n", rows) + "\n";
    }

    private static String hex(byte opcode) {
        return "`0x%02x`".formatted(opcode);
    }

    private static String answer(RunningServer server, BinaryOperation operation, String key) throws IOException {
        assertEquals("STORED", firstLine(server, "set there 0 0 1\r\n1"));
        String ignored = firstLine(server, "delete gone");
        try (BinaryClient client = new BinaryClient(server.address())) {
            client.send(BinaryClient.frame(
                    operation.opcode(),
                    new byte[operation.extrasLength()],
                    operation.hasKey() ? key : "",
                    operation.hasValue() ? "1" : "",
                    0,
                    0));
            BinaryClient.Answer answer = client.read();
            return "`0x%04x`".formatted(answer.status()) + (answer.status() == 0 ? "" : " " + answer.value());
        }
    }

    @Test
    void shouldSayInTheReferenceWhatBecomesOfAllCommandsAndWhatDiffers() throws Exception {
        String page = Files.readString(PAGE);
        String commands = Arrays.stream(MemcachedCommand.values())
                .map(MemcachedCommand::row)
                .collect(Collectors.joining("\n", "| Command | Operation | Answers | |\n|---|---|---|---|\n", "\n"));
        String differences = Arrays.stream(KnownDifference.values())
                .map(KnownDifference::row)
                .collect(Collectors.joining("\n", "| What | memcached | Here | Why |\n|---|---|---|---|\n", "\n"));
        String generated = with(with(page, "commands", commands), "differences", differences);
        try (RunningServer server = server()) {
            generated = with(with(generated, "binary", binary(server)), "protocols", protocols(server.address()));
        }
        if (Boolean.getBoolean("softrdma.draw")) {
            Files.writeString(PAGE, generated);
        }
        assertEquals(generated, Files.readString(PAGE), "run this test with -Dsoftrdma.draw=true");
    }

    private static String with(String page, String name, String table) {
        String begin = "<!-- generated by ReferenceTest: " + name + " -->\n";
        String end = "<!-- generated by ReferenceTest: end of " + name + " -->\n";
        return page.substring(0, page.indexOf(begin) + begin.length())
                + "\n" + table + "\n"
                + page.substring(page.indexOf(end));
    }
}
