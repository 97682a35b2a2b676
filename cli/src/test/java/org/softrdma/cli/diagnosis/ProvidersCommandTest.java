package org.softrdma.cli.diagnosis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProvider.Usability;
import picocli.CommandLine;

/** `softrdma providers`, and what commands say of a provider that is not usable here. */
class ProvidersCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int execute(String... arguments) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out));
        commandLine.setErr(new PrintWriter(err));
        return commandLine.execute(arguments);
    }

    @Test
    void shouldSayWhyAndWhatToDoOfEveryProvider() {
        assertEquals(ExitCode.OK, execute("providers"));
        List<VerbsProvider> providers = ProviderMixin.all();
        assertEquals(
                List.of("disni", "rdmacore", "sim"),
                providers.stream().map(VerbsProvider::name).toList());
        for (VerbsProvider provider : providers) {
            Usability usability = provider.usability();
            assertTrue(
                    out.toString().contains(provider.name() + ": " + (usability.usable() ? "usable" : "NOT usable")),
                    out::toString);
            assertTrue(
                    usability.usable() || out.toString().contains("what to do: " + usability.remedy()), out::toString);
            provider.options()
                    .keySet()
                    .forEach(option -> assertTrue(out.toString().contains(option), out::toString));
        }
        assertFalse(out.toString().contains("\tat "), out::toString);
    }

    @Test
    void shouldListTheFeaturesOfAUsableDevice() {
        assertEquals(ExitCode.OK, execute("providers"));
        String sim = out.toString().substring(out.toString().indexOf("sim: usable"));
        String features = sim.lines()
                .filter(line -> line.startsWith("  features: "))
                .findFirst()
                .orElseThrow();
        assertTrue(features.contains("ORDERED_PLACEMENT, "), features);
        assertTrue(features.contains("REGION_SWAP, "), features);
    }

    @Test
    void shouldOpenASanitisedProviderByItsName() {
        assertEquals(
                ExitCode.OK,
                execute("tck", "--provider", "sanitised:sim", "--device", "sanitiser=throw", "--case", "57"),
                () -> out + "\n" + err);
        assertTrue(out.toString().contains("provider sanitised:sim, device "), out::toString);
        assertEquals(ExitCode.USAGE, execute("tck", "--provider", "sanitized:sim"));
        assertTrue(
                err.toString().contains("sanitized:sim: unknown, expected one of disni, rdmacore, sim, or sanitised:"),
                err::toString);
    }

    @Test
    void shouldPrintOneSentenceWhenTheProviderHasNoDevice() {
        VerbsProvider provider = ProviderMixin.all().getFirst();
        Usability usability = provider.usability();
        Assumptions.assumeFalse(usability.usable(), "there is a device here: " + usability.reason());
        assertEquals(ExitCode.USAGE, execute("rping", "-s", "--provider", provider.name()));
        assertTrue(err.toString().startsWith("softrdma rping: --provider " + provider.name() + ": "), err::toString);
        assertTrue(err.toString().contains(usability.remedy()), err::toString);
        assertEquals(1, err.toString().lines().count(), err::toString);
    }
}
