package org.softrdma.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    @Spec(Spec.Target.MIXEE)
    CommandSpec mixee;

    @Option(
            names = "--provider",
            paramLabel = "NAME",
            defaultValue = "sim",
            description = "Verbs provider: ${DEFAULT-VALUE} unless given; `softrdma providers` lists them.")
    String providerName;

    @Option(
            names = "--device",
            paramLabel = "KEY=VALUE",
            description = "Option of the provider's device, may be repeated; `softrdma providers` lists them.")
    Map<String, String> deviceOptions = new LinkedHashMap<>();

    @Option(
            names = "--pcap",
            paramLabel = "FILE",
            description =
                    "Capture the connections of this process's device for Wireshark (pcapng, the file is replaced).")
    @Nullable
    Path capture;

    private boolean captureBegun;

    ProviderMixin() {}

    /** All providers on the class path, by name. */
    static List<VerbsProvider> all() {
        return VerbsProviders.all();
    }

    /** The provider asked for. */
    VerbsProvider provider() {
        List<VerbsProvider> providers = all();
        return providers.stream()
                .filter(provider -> provider.name().equals(providerName))
                .findFirst()
                .orElseThrow(() -> new ParameterException(
                        mixee.commandLine(),
                        "--provider " + providerName + ": unknown, expected one of "
                                + providers.stream().map(VerbsProvider::name).collect(Collectors.joining(", "))));
    }

    /** The device options asked for. */
    Map<String, String> deviceOptions() {
        return deviceOptions;
    }

    /**
     * The device options of a device that {@code --pcap} captures. Devices append; what was there before the first is removed.
     *
     * @throws ParameterException if the provider cannot capture
     */
    Map<String, String> capturedOptions() {
        Map<String, String> options = new LinkedHashMap<>(deviceOptions);
        if (capture != null) {
            if (!provider().options().containsKey(PCAP)) {
                throw new ParameterException(
                        mixee.commandLine(),
                        "--pcap: the provider " + provider().name() + " cannot capture, leave it out");
            }
            try {
                if (!captureBegun && Files.isRegularFile(capture)) {
                    Files.delete(capture);
                }
            } catch (IOException e) {
                throw new UserErrorException("--pcap " + capture + ": cannot be replaced: " + e.getMessage(), e);
            }
            captureBegun = true;
            options.put(PCAP, capture.toString());
        }
        return options;
    }

    /**
     * Opens the device asked for.
     *
     * @param defaults options that hold unless the user gave others
     */
    VerbsDevice open(Map<String, String> defaults) {
        Map<String, String> options = new LinkedHashMap<>(defaults);
        options.putAll(capturedOptions());
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
