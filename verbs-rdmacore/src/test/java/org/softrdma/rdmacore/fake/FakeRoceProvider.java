package org.softrdma.rdmacore.fake;

/** The provider over a fake that flushes by itself, as InfiniBand and RoCE devices do. */
public final class FakeRoceProvider extends FakeProvider {
    /** For the service loader. */
    public FakeRoceProvider() {
        super("rdmacore-fake-roce", "fake0", false);
    }
}
