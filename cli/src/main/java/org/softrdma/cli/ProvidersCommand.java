package org.softrdma.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProvider.Usability;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code softrdma providers}: what is usable here, why not, and the options of each. */
@Command(
        name = "providers",
        description = "List the verbs providers: whether each is usable here, and its device options.")
final class ProvidersCommand implements Callable<Integer> {
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
            if (!usability.usable()) {
                out.printf("  what to do: %s%n", usability.remedy());
            }
            out.println("  device options (--device KEY=VALUE):");
            provider.options().forEach((name, help) -> out.printf("    %-18s %s%n", name, help));
        }
        out.flush();
        return Main.EXIT_OK;
    }
}
