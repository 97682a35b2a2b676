package org.softrdma.verbs.device;

/**
 * Wraps the devices of any provider, for example in a tool that checks how a program uses them. {@link
 * VerbsProviders#named} finds it by its prefix: {@code sanitised:sim} is the provider {@code sim} in the decorator
 * {@code sanitised}.
 */
public interface ProviderDecorator {
    /** Short lower-case name, which precedes a colon and the provider's name. */
    String prefix();

    /**
     * Returns a provider that wraps the devices of another.
     *
     * @param provider any provider
     * @return a provider with the prefix in its name; it may add options to those of the other one
     */
    VerbsProvider decorate(VerbsProvider provider);
}
