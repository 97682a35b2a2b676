package org.softrdma.verbs.device;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * The providers of this process: every one that {@link ServiceLoader} finds on the class path or module path. Choose
 * one by its name:
 *
 * <pre>{@code
 * try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of())) {
 *     ...
 * }
 * }</pre>
 */
public final class VerbsProviders {
    private static final char DECORATED = ':';

    private VerbsProviders() {}

    /** All of them, in the order of their names. */
    public static List<VerbsProvider> all() {
        return ServiceLoader.load(VerbsProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .sorted(Comparator.comparing(VerbsProvider::name))
                .toList();
    }

    /**
     * The provider with a name. It may not be usable here: {@link VerbsProvider#open} then says why.
     *
     * @param name its {@link VerbsProvider#name()}; the {@link ProviderDecorator#prefix()} of a decorator and a colon
     *     in front of it decorate the provider
     * @throws VerbsException {@link VerbsErrorCode#NO_DEVICE} if there is no such provider or decorator; the message
     *     lists all of them, and says why a provider is not usable here
     */
    public static VerbsProvider named(String name) {
        return named(name, all(), decorators());
    }

    /**
     * Decorates a provider that is not on the class path, such as that of a simulation, as its name requests.
     *
     * @param name name of the provider, optionally with prefixes of decorators: {@code sanitised:sim}
     * @param provider what to decorate
     * @throws VerbsException {@link VerbsErrorCode#NO_DEVICE} if the name is another provider's, or there is no such
     *     decorator
     */
    public static VerbsProvider decorated(String name, VerbsProvider provider) {
        return named(name, List.of(provider), decorators());
    }

    /** The name of a provider without the prefixes of its decorators: {@code sim} of {@code sanitised:sim}. */
    public static String bareName(String name) {
        return name.substring(name.lastIndexOf(DECORATED) + 1);
    }

    private static List<ProviderDecorator> decorators() {
        return ServiceLoader.load(ProviderDecorator.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
    }

    static VerbsProvider named(String name, List<VerbsProvider> providers, List<ProviderDecorator> decorators) {
        int colon = name.indexOf(DECORATED);
        if (colon < 0) {
            return named(name, providers);
        }
        String prefix = name.substring(0, colon);
        return decorators.stream()
                .filter(decorator -> decorator.prefix().equals(prefix))
                .findFirst()
                .orElseThrow(() -> new VerbsException(VerbsErrorCode.NO_DEVICE, noDecorator(prefix, decorators)))
                .decorate(named(name.substring(colon + 1), providers, decorators));
    }

    private static String noDecorator(String prefix, List<ProviderDecorator> decorators) {
        String there = decorators.isEmpty()
                ? "the class path has none at all; add verbs-sanitiser for \"sanitised\""
                : "there are: "
                        + decorators.stream().map(ProviderDecorator::prefix).collect(Collectors.joining(", "));
        return "there is no decorator \"" + prefix + "\" of providers; " + there;
    }

    static VerbsProvider named(String name, List<VerbsProvider> providers) {
        for (VerbsProvider provider : providers) {
            if (provider.name().equals(name)) {
                return provider;
            }
        }
        throw new VerbsException(VerbsErrorCode.NO_DEVICE, noneNamed(name, providers));
    }

    private static String noneNamed(String name, List<VerbsProvider> providers) {
        if (providers.isEmpty()) {
            return "there is no provider \"" + name
                    + "\": the class path has none at all; add softrdma-sim, or verbs-rdmacore for real devices";
        }
        StringBuilder message = new StringBuilder("there is no provider \"" + name + "\"; there are:");
        for (VerbsProvider provider : providers) {
            message.append("\n  ").append(provider.name()).append(": ").append(line(provider.usability()));
        }
        return message.toString();
    }

    private static String line(VerbsProvider.Usability usability) {
        return usability.usable()
                ? usability.reason()
                : "not usable here: " + usability.reason() + "; " + usability.remedy();
    }
}
