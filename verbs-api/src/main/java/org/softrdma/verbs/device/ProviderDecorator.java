package org.softrdma.verbs.device;

/**
 * Puts something around the devices of any provider, such as a tool that watches what a program does with them. {@link
 * VerbsProviders#named} finds it by its prefix: {@code sanitised:sim} is the provider {@code sim} in the decorator {@code
 * sanitised}.
 */
public interface ProviderDecorator {
    /** Short lower-case name, which stands in front of a provider's name and a colon. */
    String prefix();

    /**
     * A provider with this decorator around its devices.
     *
     * @param provider any provider
     * @return a provider with the prefix in its name, and with the options of the other one and perhaps more
     */
    VerbsProvider decorate(VerbsProvider provider);
}
