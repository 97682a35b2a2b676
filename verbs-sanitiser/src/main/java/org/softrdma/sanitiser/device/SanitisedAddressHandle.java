package org.softrdma.sanitiser.device;

import java.net.InetSocketAddress;
import org.softrdma.sanitiser.watch.AddressHandleWatch;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.ProtectionDomain;

/** An address handle. Any thread. */
final class SanitisedAddressHandle implements AddressHandle {
    private final AddressHandle handle;
    private final ProtectionDomain domain;
    private final AddressHandleWatch watch;
    private final Lifetime lifetime;

    SanitisedAddressHandle(AddressHandle handle, ProtectionDomain domain, AddressHandleWatch watch, Lifetime lifetime) {
        this.handle = handle;
        this.domain = domain;
        this.watch = watch;
        this.lifetime = lifetime;
    }

    /** The provider's handle. */
    static AddressHandle bare(AddressHandle handle) {
        return handle instanceof SanitisedAddressHandle sanitised ? sanitised.handle : handle;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public InetSocketAddress host() {
        return handle.host();
    }

    @Override
    public void close() {
        watch.closing();
        handle.close();
        lifetime.end();
    }

    @Override
    public String toString() {
        return handle.toString();
    }
}
