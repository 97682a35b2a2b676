package org.softrdma.rdmacore.fake;

/** The provider over a fake that flushes nothing after ERROR, as siw does. */
public final class FakeIwarpProvider extends FakeProvider {
    /** For the service loader. */
    public FakeIwarpProvider() {
        super("rdmacore-fake-iwarp", "fake-siw0", true);
    }
}
