package org.softrdma.cli.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.Resource;
import org.softrdma.fabric.fault.Verb;
import org.softrdma.fabric.fault.VerbError;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.sim.roce.wire.PacketKind;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;

/** Fault plans in JSON. */
class FaultPlanFileTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "fault-plans.md");

    /** Every kind of fault and of occasion. */
    private static final FaultPlan WHOLE = FaultPlan.NONE
            .and(new When.AfterBytes("client", "server", 300), new What.Reset())
            .and(new When.AfterBytes("client", "server", 0, 2), new What.Cut())
            .and(new Fault(
                    new When.OnMessage(When.ANY, "server", MessageKind.READ_REQUEST, 3), new What.Delay(5), 250, 7, 4))
            .and(new When.OnRequest("client", When.ANY, -1, 1), new What.Stall(What.FOREVER))
            .and(new When.OnRequest("client", When.ANY, Long.MIN_VALUE), new What.Slow(8, 1000))
            .and(new When.AfterBytes("client", "server", 1L << 40), new What.Corrupt(7))
            .and(new When.OnDatagram("client", "server", 2), new What.Lose())
            .and(new When.OnDatagram("client", "server", When.EACH), new What.Repeat())
            .and(new When.OnPacket("server", "client", PacketKind.READ_RESPONSE, 3), new What.Lose())
            .and(new When.OnVerb(Verb.REG_MR, 2), new What.Refuse(VerbError.ENOMEM))
            .and(new When.OnCompletion(CompletionOpcode.SEND, 2), new What.Fail(CompletionStatus.REMOTE_ACCESS_ERROR))
            .and(new When.OnCompletion(CompletionOpcode.READ, 2), new What.Overrun())
            .and(new When.AtTime(1), new What.PortDown(5))
            .and(new When.AtTime(1), new What.NoReceives(What.FOREVER))
            .and(new When.AtTime(1), new What.Partition("client", "server", 10))
            .and(new When.AtTime(2), new What.SlowNode("server", 100, 0))
            .and(new When.AtTime(3), new What.Kill("server"))
            .and(new When.AtTime(4), new What.PowerOff("server"))
            .and(new When.AtTime(5), new What.Pause("server", 10, true))
            .and(new When.AtTime(0), new What.Quota("server", Resource.LOCKED_BYTES, 4096));

    private static FaultPlan parse(String name, String text) {
        return FaultPlanFile.parse(name, text, fault -> {});
    }

    private static String refusal(String json) {
        UserErrorException refusal = assertThrows(UserErrorException.class, () -> parse("plan.json", json));
        return String.valueOf(refusal.getMessage());
    }

    @Test
    void shouldReadWhatItHasWritten() {
        String text = FaultPlanFile.text(WHOLE);

        assertEquals(WHOLE, parse("plan.json", text), text);
    }

    @Test
    void shouldTestEveryKindOfFaultAndOccasion() {
        Set<Class<?>> tested = new HashSet<>();
        WHOLE.faults().forEach(fault -> {
            tested.add(fault.when().getClass());
            tested.add(fault.what().getClass());
        });
        Set<Class<?>> all = new HashSet<>(RecordNames.types(When.class).values());
        all.addAll(RecordNames.types(What.class).values());

        assertEquals(all, tested);
    }

    @Test
    void shouldReadAFileWithNothingButWhatIsNeeded(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("plan.json");
        Files.writeString(file, """
            {"faults": [{"when": {"type": "onRequest", "wrId": 5}, "what": {"type": "cut"}}]}
            """);

        FaultPlan expected = FaultPlan.NONE.and(new When.OnRequest(When.ANY, When.ANY, 5), new What.Cut());
        assertEquals(expected, FaultPlanFile.read(file));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "[]|line 1: at the top: expected an object, not []",
                "{}|line 1: at the top: field \"faults\" is missing: {}",
                "{\"faults\": 1}|line 1: faults: expected a list, not 1",
                "{\"faults\": [], \"fault\": 1}|line 1: fault: unknown field: expected one of [faults]",
                "{\"faults\": [{}]}|line 1: faults[0]: field \"when\" is missing: {}",
                "{\"faults\": [{\"when\": {}}]}|line 1: faults[0].when.type: expected one of [afterBytes, atTime,"
                        + " onCompletion, onDatagram, onMessage, onPacket, onRequest, onVerb], not nothing",
                "{\"faults\": [{\"when\": {\"type\": \"atTme\"}}]}|line 1: faults[0].when.type: expected one of"
                        + " [afterBytes, atTime, onCompletion, onDatagram, onMessage, onPacket, onRequest, onVerb], not"
                        + " \"atTme\"",
                "{\"faults\": [{\"when\": {\"type\": \"atTime\", \"ns\": \"1\"}}]}"
                        + "|line 1: faults[0].when.ns: expected a whole number of 64 bits, not \"1\"",
                "{\"faults\": [{\"when\": {\"type\": \"atTime\", \"ns\": 1.5}}]}"
                        + "|line 1: faults[0].when.ns: expected a whole number of 64 bits, not 1.5",
                "{\"faults\": [{\"when\": {\"type\": \"atTime\", \"ns\": -1}}]}"
                        + "|line 1: faults[0].when: ns=-1: expected at least 0",
                "{\"faults\": [{\"when\": {\"type\": \"atTime\", \"ns\": 1, \"bytes\": 2}}]}"
                        + "|line 1: faults[0].when.bytes: unknown field: expected one of [ns]",
                "{\"faults\": [{\"when\": {\"type\": \"atTime\", \"ns\": 1}, \"what\": {\"type\": \"cut\"}}]}"
                        + "|line 1: faults[0]: Cut[] happens to a connection: expected AfterBytes, OnMessage or "
                        + "OnRequest, not AtTime[ns=1]",
                "{\"faults\": [{\"when\": {\"type\": \"atTime\", \"ns\": 1}, \"what\": {\"type\": "
                        + "\"kill\", \"node\": 3}}]}"
                        + "|line 1: faults[0].what.node: expected text, not 3",
                "{\"faults\": [{\"when\": {\"type\": \"onMessage\", \"kind\": \"READ\"}}]}"
                        + "|line 1: faults[0].when.kind: expected one of [WRITE, SEND, READ_REQUEST, READ_RESPONSE, "
                        + "IMMEDIATE, ATOMIC_REQUEST, ATOMIC_RESPONSE, TERMINATE, READY_TO_RECEIVE], not \"READ\"",
                "{\"faults\": [{\"when\": {\"type\": \"onMessage\", \"kind\": \"SEND\", \"number\": 4294967296}}]}"
                        + "|line 1: faults[0].when.number: expected a whole number of 32 bits, not 4294967296",
                "{\"faults\": []|line 1, column 14: Unexpected end-of-input",
                "{\"faults\": []} {}|line 1, column 16: Trailing token",
                "{\"faults\": [], \"faults\": []}|line 1, column 24: Duplicate field 'faults'",
            })
    void shouldSayWhatWasExpectedAndWhatCameAndWhere(String json, String expected) {
        String message = refusal(json);

        assertTrue(message.startsWith("plan.json: " + expected), message);
    }

    @Test
    void shouldSayInWhichLine() {
        String message = refusal("""
            {"faults": [
                {"when": {"type": "atTime", "ns": 1}, "what": {"type": "kill", "node": "a"}},
                {
                    "when": {"type": "onVerb", "verb": "REG_MR"},
                    "what": {"type": "refuse",
                             "error": "ENOTHING"}
                }
            ]}
            """);

        assertTrue(message.startsWith("plan.json: line 6: faults[1].what.error: expected one of [EPERM, "), message);
        assertTrue(message.endsWith(", not \"ENOTHING\""), message);
    }

    @Test
    void shouldSayWhatIsNotPossibleAndWhere() {
        UserErrorException refusal = assertThrows(
                UserErrorException.class,
                () -> FaultPlanFile.parse("plan.json", FaultPlanFile.text(WHOLE), fault -> {
                    if (fault.what() instanceof What.Kill) {
                        throw new IllegalArgumentException("nobody is killed");
                    }
                }));
        String message = String.valueOf(refusal.getMessage());
        assertTrue(message.matches("plan.json: line [0-9]+: faults\\[[0-9]+]: nobody is killed"), message);
    }

    @Test
    void shouldSayThatAFileCannotBeRead(@TempDir Path directory) {
        Path file = directory.resolve("none.json");
        UserErrorException refusal = assertThrows(UserErrorException.class, () -> FaultPlanFile.read(file));

        assertTrue(String.valueOf(refusal.getMessage()).startsWith(file + ": cannot read the fault plan"));
    }

    @Test
    void shouldReadTheExampleOfTheReference() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf("```json\n") + "```json\n".length();
        String example = page.substring(begin, page.indexOf("```", begin));
        FaultPlan expected = FaultPlan.NONE
                .and(
                        new When.OnMessage("client", "server", MessageKind.READ_REQUEST, 3),
                        new What.Stall(2_000_000_000L))
                .and(new Fault(new When.OnRequest("client", When.ANY, 17, 2), new What.Cut(), Fault.ALWAYS, 1, 4))
                .and(new When.AtTime(0), new What.Quota("server", Resource.MEMORY_REGIONS, 8));

        assertEquals(expected, parse("example", example));
    }

    @Test
    void shouldNameEveryTypeInTheReference() throws IOException {
        String page = Files.readString(PAGE);
        Set<String> types = new HashSet<>(RecordNames.types(When.class).keySet());
        types.addAll(RecordNames.types(What.class).keySet());
        types.removeIf(type -> page.contains("| `" + type + "` |"));

        assertEquals(Set.of(), types, "types that " + PAGE + " does not explain");
    }
}
