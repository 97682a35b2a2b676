/** The provider-neutral verbs API: reliable connections, one-sided READ and WRITE, SEND and RECV. */
module org.softrdma.verbs {
    requires static transitive org.jspecify;

    exports org.softrdma.verbs;
    exports org.softrdma.verbs.cm;
    exports org.softrdma.verbs.device;
    exports org.softrdma.verbs.provider;

    uses org.softrdma.verbs.device.ProviderDecorator;
    uses org.softrdma.verbs.device.VerbsProvider;
}
