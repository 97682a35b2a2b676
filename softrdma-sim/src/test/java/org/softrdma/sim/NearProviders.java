package org.softrdma.sim;

import org.softrdma.verbs.device.ProviderDecorator;
import org.softrdma.verbs.device.VerbsProvider;

/** Makes {@code near:sim} of {@code sim}: the same device as {@link NearProvider} opens it. */
public final class NearProviders implements ProviderDecorator {
    /** For the service loader. */
    public NearProviders() {}

    @Override
    public String prefix() {
        return "near";
    }

    @Override
    public VerbsProvider decorate(VerbsProvider provider) {
        return new NearProvider();
    }
}
