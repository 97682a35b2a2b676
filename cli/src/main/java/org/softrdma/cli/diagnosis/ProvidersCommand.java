package org.softrdma.cli.diagnosis;

import java.io.PrintWriter;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProvider.Usability;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code softrdma providers}: what is usable here, why not, and the options of each. */
@Command(
        name = "providers",
        description =
                "List the verbs providers, whether each is usable on this machine, their features and device options.")
public final class ProvidersCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    ProvidersCommand() {}

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        for (VerbsProvider provider : ProviderMixin.all()) {
            Usability usability = provider.usability();
            out.printf("%s: %s%n", provider.name(), usability.usable() ? "usable" : "NOT usable");
            out.printf("  %s%n", usability.reason());
            if (usability.usable()) {
                out.printf("  features: %s%n", features(provider));
            } else {
                out.printf("  what to do: %s%n", usability.remedy());
            }
            out.println("  device options (--device KEY=VALUE):");
            provider.options().forEach((name, help) -> out.printf("    %-18s %s%n", name, help));
        }
        out.flush();
        return ExitCode.OK;
    }

    /** What the device can do that the defaults open. */
    private static String features(VerbsProvider provider) {
        try (VerbsDevice device = provider.open(Map.of())) {
            Set<Feature> features = device.capabilities().features();
            return features.isEmpty()
                    ? "none"
                    : features.stream().map(Feature::name).sorted().collect(Collectors.joining(", "));
        } catch (VerbsException e) {
            return "not known: " + e.getMessage();
        }
    }
}
