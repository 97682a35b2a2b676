package org.softrdma.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.conformance.CaseResult;
import org.softrdma.testkit.conformance.ConformanceReport;
import org.softrdma.testkit.conformance.ConformanceRunner;
import org.softrdma.testkit.conformance.KnownDeviation;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softrdma tck}: the conformance suite on a provider's device. Runs on the main thread. */
@Command(
        name = "tck",
        description = "Test whether a provider keeps the rules of the verbs API.",
        footer = {
            "",
            "One line per case, the last line counts them. A case that does not apply to the device",
            "is skipped and says why. The device is used at both ends of each connection; give the",
            "end that accepts other options with --responder-device.",
            "",
            "Examples:",
            "  softrdma tck",
            "  softrdma tck --device transport=nio --case 36,45",
            "  softrdma tck --device progress=manual --responder-device progress=engine"
        })
final class TckCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(TckCommand.class);
    private static final int JSON_SCHEMA = 1;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(
            names = "--responder-device",
            paramLabel = "KEY=VALUE",
            description = "Option of the accepting end's device, in place of the same option of --device.")
    private Map<String, String> responderOptions = new LinkedHashMap<>();

    @Option(names = "--one-device", description = "Both ends on one device.")
    private boolean oneDevice;

    @Option(
            names = "--address",
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description = "Where the accepting end listens: ${DEFAULT-VALUE} unless given.")
    private String address = "127.0.0.1";

    @Option(
            names = "--case",
            paramLabel = "NUMBER",
            split = ",",
            description = "Run these cases only, may be repeated; --list tells the numbers.")
    private Set<Integer> cases = new LinkedHashSet<>();

    @Option(names = "--list", description = "List the cases and exit.")
    private boolean list;

    @Option(
            names = "--scale",
            paramLabel = "FACTOR",
            defaultValue = "1",
            description = "Multiplies repetitions, and above 1 deadlines too: 0.1 to 10.")
    private double scale = 1;

    @Option(
            names = "--seed",
            paramLabel = "NUMBER",
            description = "Repeats the random choices of a run, which the head of its output tells.")
    private @Nullable Long seed;

    @Option(names = "--json", paramLabel = "FILE", description = "Also write the results to a file.")
    private @Nullable Path json;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    TckCommand() {}

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        if (list) {
            for (ConformanceCase entry : ConformanceRunner.list()) {
                out.printf(Locale.ROOT, "%4d  %s [%s]%n", entry.number(), entry.title(), entry.source());
            }
            out.flush();
            return Main.EXIT_OK;
        }
        ConformanceRunner runner = runner(out);
        ConformanceReport report = runner.run();
        if (json != null) {
            write(report, json);
        }
        return report.failures().isEmpty() ? Main.EXIT_OK : Main.EXIT_FAILED;
    }

    /** A mistake in an option of a device is told before the run; whatever else keeps one from opening, by the run. */
    private void checkOptions(ConformanceSettings settings) {
        for (Map<String, String> options : List.of(settings.requesterOptions(), settings.responderOptions())) {
            try {
                provider.provider().open(options).close();
            } catch (IllegalArgumentException e) {
                throw new UserErrorException("--device: " + e.getMessage(), e);
            } catch (VerbsException e) {
                LOG.debug("the device {} does not open", options, e);
            }
        }
    }

    private ConformanceRunner runner(PrintWriter out) {
        String name = provider.provider().name();
        // Both ends are here: each connection is captured once, at the end that asks for it.
        Map<String, String> requester = provider.capturedOptions();
        Map<String, String> responder = new LinkedHashMap<>(provider.deviceOptions());
        responder.putAll(responderOptions);
        try {
            ConformanceSettings settings = ConformanceSettings.of(name, requester)
                    .withResponderOptions(responder)
                    .withAddress(address)
                    .withScale(scale);
            if (oneDevice) {
                settings = settings.withSharedDevice();
            }
            if (seed != null) {
                settings = settings.withSeed(seed);
            }
            checkOptions(settings);
            return new ConformanceRunner(settings, cases, KnownDeviation.TABLE, line -> {
                out.println(line);
                out.flush();
            });
        } catch (IllegalArgumentException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        }
    }

    private static void write(ConformanceReport report, Path file) {
        Map<String, @Nullable Object> root = new LinkedHashMap<>();
        root.put("schema", JSON_SCHEMA);
        root.put("machine", machine());
        root.put("provider", report.settings().provider());
        root.put("device", report.device());
        root.put("wire", report.wire());
        root.put("capabilities", report.capabilities());
        root.put("requesterOptions", report.settings().requesterOptions());
        root.put("responderOptions", report.settings().responderOptions());
        root.put("oneDevice", report.settings().sharedDevice());
        root.put("scale", report.settings().scale());
        root.put("seed", report.settings().seed());
        root.put("operations", report.operations());
        root.put("passed", report.count(CaseResult.Status.PASSED));
        root.put("failed", report.count(CaseResult.Status.FAILED));
        root.put("skipped", report.count(CaseResult.Status.SKIPPED));
        root.put("results", report.results().stream().map(TckCommand::result).toList());
        try {
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), root);
        } catch (IOException e) {
            throw new UserErrorException("--json " + file + ": " + e.getMessage(), e);
        }
    }

    private static Map<String, Object> result(CaseResult result) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("case", result.number());
        entry.put("title", result.title());
        entry.put("source", result.source());
        entry.put("status", result.status().name().toLowerCase(Locale.ROOT));
        entry.put("reason", result.reason());
        entry.put("ms", result.millis());
        return entry;
    }

    private static Map<String, Object> machine() {
        List<String> names = List.of("os.name", "os.version", "os.arch", "java.vm.name", "java.version");
        Map<String, Object> machine = new LinkedHashMap<>();
        names.forEach(name -> machine.put(name, System.getProperty(name, "")));
        machine.put("processors", Runtime.getRuntime().availableProcessors());
        return machine;
    }
}
