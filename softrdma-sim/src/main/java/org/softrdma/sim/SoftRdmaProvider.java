package org.softrdma.sim;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.kernel.HugePages;
import org.softrdma.net.kernel.Shortage;
import org.softrdma.net.transport.Transport;
import org.softrdma.sim.capture.CapturingTransport;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.roce.RoceAdvice;
import org.softrdma.sim.samehost.SameHost;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/** The provider {@code sim}: a software RNIC, usable wherever there is TCP. */
public final class SoftRdmaProvider implements VerbsProvider {
    private static final Logger LOG = LoggerFactory.getLogger(SoftRdmaProvider.class);

    /** For the service loader. */
    public SoftRdmaProvider() {}

    @Override
    public String name() {
        return "sim";
    }

    @Override
    public Usability usability() {
        return Usability.usable("software RNIC: iWARP over TCP by " + Transports.describe()
                + "; RoCEv2 over UDP alike: wire=roce; " + sameHost() + hugePages() + roce());
    }

    private static String roce() {
        RoceAdvice advice = RoceAdvice.ofThisMachine();
        return Stream.of(advice.takenPort(), advice.smallBuffer())
                .flatMap(Optional::stream)
                .map(sentence -> "; " + sentence)
                .collect(Collectors.joining());
    }

    private static String sameHost() {
        return SameHost.obstacle()
                .map(reason -> "READs on the same host by TCP: " + reason)
                .orElse("READs of shareable memory on the same host without the responder: same-host=auto");
    }

    private static String hugePages() {
        return HugePages.obstacle()
                .map(reason -> "; without transparent huge pages: " + reason)
                .orElse("");
    }

    @Override
    public Map<String, String> options() {
        return SoftRdmaContext.OPTIONS;
    }

    @Override
    public VerbsDevice open(Map<String, String> options) {
        return open(new SoftRdmaContext().set(options).conclude());
    }

    /**
     * Opens a device.
     *
     * @param context concluded
     * @throws IllegalArgumentException if the file of its captures cannot be written
     */
    public VerbsDevice open(SoftRdmaContext context) {
        return open(context, transport -> transport);
    }

    /**
     * Opens a device whose network is not quite what it would be.
     *
     * @param context concluded
     * @param network what the device gets instead of its transport, which is closed with it
     * @throws IllegalArgumentException if the file of its captures cannot be written
     */
    public VerbsDevice open(SoftRdmaContext context, UnaryOperator<Transport> network) {
        if (context.isRoce()) {
            RoceAdvice.ofThisMachine().smallBuffer().ifPresent(LOG::info);
            if (context.threads() > 1 && !context.manualProgress()) {
                LOG.info(
                        "wire=roce with threads={}: the first serves all peers that connect and all connections to"
                                + " other hosts, the others only connections that this device makes to this host",
                        context.threads());
            }
        }
        Transport transport = network.apply(captured(context, transport(context)));
        try {
            return new SoftRdmaDevice(context.deviceSettings(), transport);
        } catch (RuntimeException | Error e) {
            transport.close();
            throw e;
        }
    }

    private static Transport captured(SoftRdmaContext context, Transport transport) {
        Path path = context.capture().orElse(null);
        if (path == null) {
            return transport;
        }
        try {
            if (context.sameHost()) {
                LOG.info("{} will not show READs of shareable memory on the same host; same-host=off sends them", path);
            }
            return CapturingTransport.of(transport, path);
        } catch (IOException e) {
            transport.close();
            if (Shortage.is(e)) {
                throw new VerbsException(VerbsErrorCode.NO_RESOURCES, "pcap=" + path + ": " + e, e);
            }
            throw new IllegalArgumentException("pcap=" + path + ": cannot be written: " + e, e);
        }
    }

    private static Transport transport(SoftRdmaContext context) {
        return Transports.open(
                context.transport(), context.threads(), context.manualProgress(), context.socketOptions());
    }
}
