package org.softrdma.kv.server.rdma;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.Wildcards;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Opens the listeners of a server, one for each address, all at one port: clients are told its number only, and connect to
 * the address where they have found the server. An address that the device does not have is left out, unless it is the last.
 */
final class RdmaListeners {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaListeners.class);
    private static final int BACKLOG = 128;

    /** A port that is free at the first address may be in use at another. */
    private static final int MOST_TRIES = 20;

    private final VerbsDevice device;
    private final RdmaSettings settings;
    private final List<Listener> opened = new ArrayList<>();

    private RdmaListeners(VerbsDevice device, RdmaSettings settings) {
        this.device = device;
        this.settings = settings;
    }

    /**
     * Opens them.
     *
     * @return at least one
     * @throws VerbsException if none can be opened, or the port is in use at one of the addresses
     */
    static List<Listener> open(VerbsDevice device, RdmaSettings settings) {
        for (int i = 1; ; i++) {
            RdmaListeners listeners = new RdmaListeners(device, settings);
            try {
                listeners.openAll();
                return listeners.opened;
            } catch (RuntimeException e) {
                CloseHelper.quietCloseAll(listeners.opened);
                boolean another = settings.port() == 0
                        && e instanceof VerbsException failure
                        && failure.code() == VerbsErrorCode.ADDRESS_IN_USE;
                if (!another || i == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    private void openAll() {
        @Nullable VerbsException missing = null;
        for (InetAddress address : settings.addresses()) {
            try {
                opened.add(listen(address));
            } catch (VerbsException e) {
                if (e.code() != VerbsErrorCode.ADDRESS_NOT_AVAILABLE) {
                    throw e;
                }
                LOG.info("device {} connects no queue pairs at {}: {}", device.name(), address, e.getMessage());
                missing = e;
            }
        }
        if (opened.isEmpty() && missing != null) {
            throw missing;
        }
    }

    /** Where both families are meant, IPv4 alone is better than nothing. */
    private Listener listen(InetAddress address) {
        if (!address.equals(Wildcards.IPV6) || settings.ipv6Only()) {
            return device.listen(atPort(address), BACKLOG);
        }
        if (!device.capabilities().has(Feature.IPV6)) {
            return device.listen(atPort(Wildcards.IPV4), BACKLOG);
        }
        try {
            return device.listen(atPort(address), BACKLOG);
        } catch (VerbsException e) {
            if (e.code() != VerbsErrorCode.ADDRESS_NOT_AVAILABLE) {
                throw e;
            }
            LOG.info("device {} connects queue pairs over IPv4 only: {}", device.name(), e.getMessage());
            return device.listen(atPort(Wildcards.IPV4), BACKLOG);
        }
    }

    private InetSocketAddress atPort(InetAddress address) {
        int port = opened.isEmpty()
                ? settings.port()
                : opened.getFirst().localAddress().getPort();
        return new InetSocketAddress(address, port);
    }
}
