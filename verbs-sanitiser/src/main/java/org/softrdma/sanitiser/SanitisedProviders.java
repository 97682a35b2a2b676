package org.softrdma.sanitiser;

import org.softrdma.verbs.device.ProviderDecorator;
import org.softrdma.verbs.device.VerbsProvider;

/** Makes the providers whose names begin with {@code sanitised:}. */
public final class SanitisedProviders implements ProviderDecorator {
    /** For the service loader. */
    public SanitisedProviders() {}

    @Override
    public String prefix() {
        return "sanitised";
    }

    @Override
    public VerbsProvider decorate(VerbsProvider provider) {
        return new SanitisedProvider(prefix(), provider);
    }
}
