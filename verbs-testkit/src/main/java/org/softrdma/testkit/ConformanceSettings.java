package org.softrdma.testkit;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.softrdma.verbs.device.VerbsProviders;

/**
 * The settings of a run. They reach the cases as JUnit configuration parameters, so that a build tool can run the
 * cases, too.
 *
 * @param provider name of the provider under test
 * @param requesterOptions options of the device that connects and posts
 * @param responderOptions options of the device that listens; never in manual progress
 * @param sharedDevice one device plays both parts, opened with the options of the requester
 * @param address where the responder listens, reachable from the requester
 * @param scale multiplies iteration counts, and above 1 also deadlines: 0.1 to 10
 * @param timeoutNs limit of every wait of a case at scale 1, in nanoseconds
 * @param seed seed of everything random
 * @param knownAs name by which lawful differences and known deviations of the device are found; its own if empty
 */
public record ConformanceSettings(
        String provider,
        Map<String, String> requesterOptions,
        Map<String, String> responderOptions,
        boolean sharedDevice,
        String address,
        double scale,
        long timeoutNs,
        long seed,
        String knownAs) {
    /** Name of the configuration parameter with the provider's name; the names of the others begin in the same way. */
    public static final String PROVIDER = "softrdma.tck.provider";

    private static final String REQUESTER = "softrdma.tck.requester";
    private static final String RESPONDER = "softrdma.tck.responder";
    private static final String SHARED_DEVICE = "softrdma.tck.sharedDevice";
    private static final String ADDRESS = "softrdma.tck.address";
    private static final String SCALE = "softrdma.tck.scale";
    private static final String TIMEOUT_MS = "softrdma.tck.timeoutMs";
    private static final String SEED = "softrdma.tck.seed";
    private static final String KNOWN_AS = "softrdma.tck.knownAs";

    private static final double MIN_SCALE = 0.1;
    private static final double MAX_SCALE = 10;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long DEFAULT_TIMEOUT_MS = 10_000;

    /** Checks and copies. */
    public ConformanceSettings {
        if (!(scale >= MIN_SCALE && scale <= MAX_SCALE)) {
            throw new IllegalArgumentException("scale=" + scale + ": expected " + MIN_SCALE + " to " + MAX_SCALE);
        }
        if (timeoutNs <= 0) {
            throw new IllegalArgumentException("timeoutNs=" + timeoutNs + " <= 0");
        }
        requesterOptions = Map.copyOf(requesterOptions);
        responderOptions = Map.copyOf(responderOptions);
    }

    /**
     * Two devices with the same options, at scale 1 on the loopback address, with a seed drawn from the clock.
     *
     * @param provider name of the provider
     * @param options options of both devices
     */
    public static ConformanceSettings of(String provider, Map<String, String> options) {
        return new ConformanceSettings(
                provider,
                options,
                options,
                false,
                "127.0.0.1",
                1,
                DEFAULT_TIMEOUT_MS * NANOS_PER_MILLI,
                System.nanoTime(),
                "");
    }

    /** The same settings with other options for the device that listens. */
    public ConformanceSettings withResponderOptions(Map<String, String> options) {
        return new ConformanceSettings(
                provider, requesterOptions, options, sharedDevice, address, scale, timeoutNs, seed, knownAs);
    }

    /**
     * The same settings with another scale.
     *
     * @param newScale 0.1 to 10
     */
    public ConformanceSettings withScale(double newScale) {
        return new ConformanceSettings(
                provider,
                requesterOptions,
                responderOptions,
                sharedDevice,
                address,
                newScale,
                timeoutNs,
                seed,
                knownAs);
    }

    /**
     * The same settings with another limit of every wait.
     *
     * @param newTimeoutNs nanoseconds at scale 1
     */
    public ConformanceSettings withTimeout(long newTimeoutNs) {
        return new ConformanceSettings(
                provider,
                requesterOptions,
                responderOptions,
                sharedDevice,
                address,
                scale,
                newTimeoutNs,
                seed,
                knownAs);
    }

    /**
     * The same settings with another seed.
     *
     * @param newSeed any number
     */
    public ConformanceSettings withSeed(long newSeed) {
        return new ConformanceSettings(
                provider,
                requesterOptions,
                responderOptions,
                sharedDevice,
                address,
                scale,
                timeoutNs,
                newSeed,
                knownAs);
    }

    /**
     * The same settings with another address to listen on.
     *
     * @param newAddress host name or address
     */
    public ConformanceSettings withAddress(String newAddress) {
        return new ConformanceSettings(
                provider,
                requesterOptions,
                responderOptions,
                sharedDevice,
                newAddress,
                scale,
                timeoutNs,
                seed,
                knownAs);
    }

    /**
     * The same settings for a device that has another's name, as the card of {@code softrdma run} has.
     *
     * @param name by which its differences and deviations are found
     */
    public ConformanceSettings withKnownAs(String name) {
        return new ConformanceSettings(
                provider, requesterOptions, responderOptions, sharedDevice, address, scale, timeoutNs, seed, name);
    }

    /** The same settings with one device in both parts. */
    public ConformanceSettings withSharedDevice() {
        return new ConformanceSettings(
                provider, requesterOptions, requesterOptions, true, address, scale, timeoutNs, seed, knownAs);
    }

    /** The provider's name without those of decorators: {@code sim} of {@code sanitised:sim}. */
    public String bareProvider() {
        return VerbsProviders.bareName(provider);
    }

    /**
     * The name by which lawful differences and known deviations are found.
     *
     * @param device the device's own name
     */
    public String knownName(String device) {
        return knownAs.isEmpty() ? device : knownAs;
    }

    /** As JUnit configuration parameters. */
    public Map<String, String> toParameters() {
        Map<String, String> parameters = new HashMap<>();
        parameters.put(PROVIDER, provider);
        parameters.put(REQUESTER, join(requesterOptions));
        parameters.put(RESPONDER, join(responderOptions));
        parameters.put(SHARED_DEVICE, Boolean.toString(sharedDevice));
        parameters.put(ADDRESS, address);
        parameters.put(SCALE, Double.toString(scale));
        parameters.put(TIMEOUT_MS, Long.toString(timeoutNs / NANOS_PER_MILLI));
        parameters.put(SEED, Long.toString(seed));
        parameters.put(KNOWN_AS, knownAs);
        return parameters;
    }

    /**
     * From JUnit configuration parameters; only the provider's name must be there.
     *
     * @param parameters looks one up
     */
    public static ConformanceSettings ofParameters(Function<String, Optional<String>> parameters) {
        String provider = parameters
                .apply(PROVIDER)
                .orElseThrow(() -> new IllegalArgumentException(
                        "configuration parameter " + PROVIDER + " is missing: which provider is under test?"));
        Map<String, String> requester = split(parameters.apply(REQUESTER).orElse(""));
        ConformanceSettings defaults = of(provider, requester);
        return new ConformanceSettings(
                provider,
                requester,
                parameters.apply(RESPONDER).map(ConformanceSettings::split).orElse(requester),
                parameters.apply(SHARED_DEVICE).map(Boolean::parseBoolean).orElse(defaults.sharedDevice),
                parameters.apply(ADDRESS).orElse(defaults.address),
                parameters.apply(SCALE).map(Double::parseDouble).orElse(defaults.scale),
                parameters.apply(TIMEOUT_MS).map(Long::parseLong).orElse(DEFAULT_TIMEOUT_MS) * NANOS_PER_MILLI,
                parameters.apply(SEED).map(Long::parseLong).orElse(defaults.seed),
                parameters.apply(KNOWN_AS).orElse(defaults.knownAs));
    }

    private static String join(Map<String, String> options) {
        StringBuilder lines = new StringBuilder();
        options.forEach(
                (name, value) -> lines.append(name).append('=').append(value).append('\n'));
        return lines.toString();
    }

    private static Map<String, String> split(String lines) {
        Map<String, String> options = new LinkedHashMap<>();
        lines.lines().forEach(line -> {
            int equals = line.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("device option '" + line + "': expected name=value");
            }
            options.put(line.substring(0, equals), line.substring(equals + 1));
        });
        return options;
    }
}
