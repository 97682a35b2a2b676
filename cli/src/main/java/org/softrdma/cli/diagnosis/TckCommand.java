package org.softrdma.cli.diagnosis;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.ResultFile;
import org.softrdma.cli.command.UserErrorException;
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
        description = "Test whether a provider conforms to the verbs API.",
        footer = {
            "",
            "Prints one line per case, and a summary. A case that does not apply to the device is skipped, and its"
                    + " line says why. The device serves both ends of each connection; --responder-device gives the"
                    + " accepting end other options.",
            "",
            "The fabric is a simulated network: the cases that need no socket run on it with software RNICs, in"
                    + " virtual time, and a seed decides every choice. It splits streams anywhere, and lets others see"
                    + " unfinished copies.",
            "",
            "Examples:",
            "  softrdma tck",
            "  softrdma tck --device transport=nio --case 36,45",
            "  softrdma tck --transport fabric --seed 1 --seeds 20",
            "  softrdma tck --device progress=manual --responder-device progress=engine"
        })
public final class TckCommand implements Callable<Integer> {
    private static final int JSON_SCHEMA = 1;
    private static final List<String> ONLY_TCP = List.of("--address", "--json", "--pcap");

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Option(
            names = "--responder-device",
            paramLabel = "KEY=VALUE",
            description = "Set an option of the accepting end's device; overrides the same option of --device.")
    private Map<String, String> responderOptions = new LinkedHashMap<>();

    @Option(names = "--one-device", description = "Use one device for both ends.")
    private boolean oneDevice;

    @Option(
            names = "--address",
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description = "Address that the accepting end listens on (${DEFAULT-VALUE}).")
    private String address = "127.0.0.1";

    @Option(
            names = "--case",
            paramLabel = "NUMBER",
            split = ",",
            description = "Run only these cases. Repeatable; --list shows the numbers.")
    private Set<Integer> cases = new LinkedHashSet<>();

    @Option(
            names = "--known-as",
            paramLabel = "NAME",
            description =
                    "Expect the known deviations of this device instead of those of the tested device's name: run for"
                            + " what `softrdma run` shows as rxe0.")
    private String knownAs = "";

    @Option(names = "--list", description = "List the cases and exit.")
    private boolean list;

    @Option(
            names = "--scale",
            paramLabel = "FACTOR",
            description = "Multiply repetitions by this factor, and deadlines too if it is above 1: 0.1 to"
                    + " 10 (1; on the fabric 0.1).")
    private @Nullable Double scale;

    @Option(
            names = "--transport",
            paramLabel = "tcp|fabric|both",
            defaultValue = "tcp",
            description =
                    "Run the cases between devices of the provider, on the fabric, or on both (${DEFAULT-VALUE}).")
    private Place place = Place.TCP;

    @Option(
            names = "--seed",
            paramLabel = "NUMBER",
            description = "Repeat the random choices of an earlier run, whose output shows its seed.")
    private @Nullable Long seed;

    @Option(
            names = "--seeds",
            paramLabel = "COUNT",
            defaultValue = "1",
            description = "Run the cases on the fabric with this many seeds, starting at --seed (${DEFAULT-VALUE}).")
    private int seeds = 1;

    @Option(names = "--json", paramLabel = "FILE", description = "Also write the results to this file.")
    private @Nullable Path json;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    /** Where cases run. */
    enum Place {
        TCP,
        FABRIC,
        BOTH
    }

    TckCommand() {}

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        if (list) {
            for (ConformanceCase entry : ConformanceRunner.list()) {
                out.printf(Locale.ROOT, "%4d  %s [%s]%n", entry.number(), entry.title(), entry.source());
            }
            out.flush();
            return ExitCode.OK;
        }
        checkPlace();
        boolean passed = place == Place.TCP || onFabric().run(lines(out));
        if (place != Place.FABRIC) {
            ConformanceReport report = runner(out).run();
            if (json != null) {
                write(report, json);
            }
            passed &= report.failures().isEmpty();
        }
        return passed ? ExitCode.OK : ExitCode.FAILED;
    }

    private void checkPlace() {
        if (seeds < 1) {
            throw new UserErrorException("--seeds " + seeds + ": expected at least 1");
        }
        if (place == Place.TCP && seeds > 1) {
            throw new UserErrorException("--seeds: only with --transport fabric or both");
        }
        if (place != Place.TCP && !provider.provider().name().equals("sim")) {
            throw new UserErrorException("--transport " + place.name().toLowerCase(Locale.ROOT) + ": the fabric has"
                    + " devices of the provider sim, not of "
                    + provider.provider().name());
        }
        for (String option : ONLY_TCP) {
            if (place == Place.FABRIC && spec.commandLine().getParseResult().hasMatchedOption(option)) {
                throw new UserErrorException(option + ": only with --transport tcp or both");
            }
        }
    }

    private TckOnFabric onFabric() {
        try {
            return new TckOnFabric(
                    settings(provider.deviceOptions(), TckOnFabric.SCALE), cases, seed == null ? 1 : seed, seeds);
        } catch (IllegalArgumentException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        }
    }

    private static Consumer<String> lines(PrintWriter out) {
        return line -> {
            out.println(line);
            out.flush();
        };
    }

    /** A mistake in an option of a device is told before the run; whatever else keeps one from opening, by the run. */
    private void checkOptions(ConformanceSettings settings) {
        for (Map<String, String> options : List.of(settings.requesterOptions(), settings.responderOptions())) {
            try {
                provider.provider().open(options).close();
            } catch (IllegalArgumentException e) {
                throw new UserErrorException("--device: " + e.getMessage(), e);
            } catch (VerbsException e) {
                // Not a field: the first logger would exist before -v has set the level of all.
                Logger log = LoggerFactory.getLogger(TckCommand.class);
                log.debug("the device {} does not open", options, e);
            }
        }
    }

    private ConformanceRunner runner(PrintWriter out) {
        try {
            // Both ends are here: each connection is captured once, at the end that asks for it.
            ConformanceSettings settings =
                    settings(provider.capturedOptions(), 1).withAddress(address);
            if (seed != null) {
                settings = settings.withSeed(seed);
            }
            settings = settings.withKnownAs(knownAs);
            checkOptions(settings);
            return new ConformanceRunner(settings, cases, KnownDeviation.TABLE, lines(out));
        } catch (IllegalArgumentException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        }
    }

    private ConformanceSettings settings(Map<String, String> requester, double usualScale) {
        Map<String, String> responder = new LinkedHashMap<>(provider.deviceOptions());
        responder.putAll(responderOptions);
        ConformanceSettings settings = ConformanceSettings.of(
                        provider.provider().name(), requester)
                .withResponderOptions(responder)
                .withScale(scale == null ? usualScale : scale);
        return oneDevice ? settings.withSharedDevice() : settings;
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
        ResultFile.write(file, root);
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
