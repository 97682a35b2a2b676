package org.softrdma.cli.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProviders;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options {@code --provider}, {@code --device} and {@code --pcap} of every command that opens a verbs device. */
public final class ProviderMixin {
    private static final String PCAP = "pcap";
    private static final String PROGRESS = "progress";
    private static final String WIRE = "wire";
    private static final String OF_ROCE = "roce-";
    private static final int ROCE_PORT = 4791;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec mixee;

    @Option(
            names = "--provider",
            paramLabel = "NAME",
            defaultValue = "sim",
            description = "Verbs provider (${DEFAULT-VALUE}); `softrdma providers` lists them. `sanitised:NAME` reports"
                    + " broken rules of verbs.")
    private String providerName;

    @Option(
            names = "--device",
            paramLabel = "KEY=VALUE",
            description = "Set an option of the provider's device. Repeatable; `softrdma providers` lists the options.")
    private Map<String, String> deviceOptions = new LinkedHashMap<>();

    @Option(
            names = "--pcap",
            paramLabel = "FILE",
            description = "Capture this device's connections for Wireshark (pcapng). An existing file is replaced.")
    private @Nullable Path capture;

    private boolean captureBegun;

    /** The one asked for: devices that one provider opened can know of each other. */
    private @Nullable VerbsProvider provider;

    /** picocli fills it in. */
    public ProviderMixin() {}

    /** All providers on the class path, by name. */
    public static List<VerbsProvider> all() {
        return VerbsProviders.all();
    }

    /** The provider asked for. */
    public VerbsProvider provider() {
        VerbsProvider chosen = provider;
        if (chosen == null) {
            chosen = named();
            provider = chosen;
        }
        return chosen;
    }

    private VerbsProvider named() {
        try {
            return VerbsProviders.named(providerName);
        } catch (VerbsException e) {
            throw new ParameterException(
                    mixee.commandLine(),
                    "--provider " + providerName + ": unknown, expected one of "
                            + all().stream().map(VerbsProvider::name).collect(Collectors.joining(", "))
                            + ", or sanitised: and one of them",
                    e);
        }
    }

    /** The device options asked for. */
    public Map<String, String> deviceOptions() {
        return deviceOptions;
    }

    /**
     * The devices are those of a study, which stops servers while it measures others. A kernel answers for a process that is stopped,
     * but not on RoCEv2: nobody may ask there.
     */
    public void tolerateStoppedProcesses() {
        if (rocePort().isPresent()) {
            deviceOptions.putIfAbsent("host-timeout", "0");
        }
    }

    /** UDP port of servers on RoCEv2 in user space, where it belongs to one process of an address; empty on other wires. */
    public OptionalInt rocePort() {
        if (!"roce".equals(deviceOptions.get(WIRE)) || !provider().options().containsKey(WIRE)) {
            return OptionalInt.empty();
        }
        String port = deviceOptions.getOrDefault("roce-peer-port", deviceOptions.get("roce-port"));
        return OptionalInt.of(port != null && port.matches("[1-9][0-9]{0,4}") ? Integer.parseInt(port) : ROCE_PORT);
    }

    /** The arguments that give a child process the same provider and device options. */
    public List<String> arguments() {
        return arguments(deviceOptions);
    }

    /** The same without what chooses RoCEv2. */
    public List<String> argumentsOverTcp() {
        return arguments(overTcp(deviceOptions));
    }

    private List<String> arguments(Map<String, String> options) {
        List<String> arguments =
                new ArrayList<>(List.of("--provider", provider().name()));
        options.forEach((name, value) -> arguments.addAll(List.of("--device", name + "=" + value)));
        return arguments;
    }

    private static Map<String, String> overTcp(Map<String, String> options) {
        Map<String, String> others = new LinkedHashMap<>(options);
        others.keySet().removeIf(name -> name.equals(WIRE) || name.startsWith(OF_ROCE));
        return others;
    }

    /**
     * The device options of a device that {@code --pcap} captures. Devices append; what was there before the first is removed.
     *
     * @throws ParameterException if the provider cannot capture
     */
    public Map<String, String> capturedOptions() {
        Map<String, String> options = new LinkedHashMap<>(deviceOptions);
        if (capture != null) {
            if (!provider().options().containsKey(PCAP)) {
                throw new ParameterException(
                        mixee.commandLine(),
                        "--pcap: the provider " + provider().name() + " cannot capture; omit the option");
            }
            try {
                if (!captureBegun && Files.isRegularFile(capture)) {
                    Files.delete(capture);
                }
            } catch (IOException e) {
                throw new UserErrorException("--pcap " + capture + ": cannot replace the file: " + e.getMessage(), e);
            }
            captureBegun = true;
            options.put(PCAP, capture.toString());
        }
        return options;
    }

    /**
     * Opens the device asked for.
     *
     * @param wanted who is to drive it; null for the default
     * @param byDefault who drives it if the user does not say, where the provider offers the choice
     */
    public VerbsDevice open(@Nullable DeviceProgress wanted, DeviceProgress byDefault) {
        boolean chooses = provider().options().containsKey(PROGRESS);
        if (wanted != null && !chooses) {
            throw new ParameterException(
                    mixee.commandLine(),
                    "--progress: the provider " + provider().name() + " offers no choice; omit the option");
        }
        DeviceProgress chosen = wanted == null ? byDefault : wanted;
        return open(chooses ? Map.of(PROGRESS, chosen.option()) : Map.of());
    }

    /**
     * Opens the device asked for, with options that the provider may not know.
     *
     * @param wanted options that hold, unless the user gave others, where the provider has them
     */
    public VerbsDevice openWithKnown(Map<String, String> wanted) {
        Map<String, String> known = new LinkedHashMap<>(wanted);
        known.keySet().retainAll(provider().options().keySet());
        return open(known);
    }

    /**
     * Opens the device asked for.
     *
     * @param defaults options that hold unless the user gave others
     */
    public VerbsDevice open(Map<String, String> defaults) {
        Map<String, String> options = new LinkedHashMap<>(defaults);
        options.putAll(capturedOptions());
        return openWith(options);
    }

    /**
     * Opens the device asked for, but on TCP.
     *
     * @param defaults options that hold unless the user gave others
     */
    public VerbsDevice openOverTcp(Map<String, String> defaults) {
        Map<String, String> options = new LinkedHashMap<>(defaults);
        options.putAll(overTcp(deviceOptions));
        return openWith(options);
    }

    private VerbsDevice openWith(Map<String, String> options) {
        try {
            return provider().open(options);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(mixee.commandLine(), "--device: " + e.getMessage(), e);
        } catch (VerbsException e) {
            if (e.code() == VerbsErrorCode.NO_DEVICE) {
                throw new UserErrorException("--provider " + providerName + ": " + e.getMessage(), e);
            }
            throw e;
        }
    }
}
