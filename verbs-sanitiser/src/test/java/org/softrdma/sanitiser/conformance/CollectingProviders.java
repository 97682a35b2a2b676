package org.softrdma.sanitiser.conformance;

import java.util.Map;
import org.softrdma.sanitiser.Sanitiser;
import org.softrdma.sanitiser.finding.Findings;
import org.softrdma.verbs.device.ProviderDecorator;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/** The providers whose names begin with {@code collected:}: all findings of this JVM go to one place. */
public final class CollectingProviders implements ProviderDecorator {
    /** What the cases find; they run one after the other. */
    static final Findings FINDINGS = new Findings();

    /** For the service loader. */
    public CollectingProviders() {}

    private record Collecting(VerbsProvider provider, Sanitiser sanitiser) implements VerbsProvider {
        @Override
        public String name() {
            return "collected:" + provider.name();
        }

        @Override
        public Usability usability() {
            return provider.usability();
        }

        @Override
        public Map<String, String> options() {
            return provider.options();
        }

        @Override
        public VerbsDevice open(Map<String, String> options) {
            return sanitiser.wrap(provider.open(options));
        }
    }

    @Override
    public String prefix() {
        return "collected";
    }

    @Override
    public VerbsProvider decorate(VerbsProvider provider) {
        return new Collecting(provider, new Sanitiser(FINDINGS));
    }
}
