package org.softrdma.disni;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.softrdma.disni.device.BoundDevice;
import org.softrdma.disni.device.DisniDevice;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.disni.library.InstalledDisni;
import org.softrdma.ibverbs.LibraryUnavailableException;
import org.softrdma.ibverbs.LockedMemory;
import org.softrdma.ibverbs.RdmaSubsystem;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/** The provider {@code disni}: RNICs, SoftRoCE and SoftiWARP through DiSNI 2.1 and the libdisni.so of this machine. */
public final class DisniProvider implements VerbsProvider {
    private static final String DEVICE = "device";
    private static final String ADDRESS = "address";
    private static final Map<String, String> OPTIONS = options(
            DEVICE, "device name as shown by `rdma link` or ibv_devices, such as rxe0 (default: the first one)",
            ADDRESS, "the device's IPv4 address to connect from (default: the first one of a device)");

    private final Loader loader;
    private final RdmaSubsystem subsystem;

    /** Loads DiSNI, or says why it cannot. */
    @FunctionalInterface
    interface Loader {
        DisniLibrary load() throws LibraryUnavailableException;
    }

    /** For the service loader. */
    public DisniProvider() {
        this(InstalledDisni::load, RdmaSubsystem.ofThisMachine());
    }

    /** With a DiSNI and a kernel chosen by the caller. */
    DisniProvider(Loader loader, RdmaSubsystem subsystem) {
        this.loader = loader;
        this.subsystem = subsystem;
    }

    private static Map<String, String> options(String... namesAndHelp) {
        Map<String, String> options = new LinkedHashMap<>();
        for (int i = 0; i < namesAndHelp.length; i += 2) {
            options.put(namesAndHelp[i], namesAndHelp[i + 1]);
        }
        return Collections.unmodifiableMap(options);
    }

    @Override
    public String name() {
        return "disni";
    }

    @Override
    public Map<String, String> options() {
        return OPTIONS;
    }

    @Override
    public Usability usability() {
        try (VerbsDevice device = open(Optional.empty(), addresses())) {
            LockedMemory limit = LockedMemory.ofThisProcess();
            return Usability.usable(device.name()
                    + (limit.isUnlimited() ? "" : "; at most " + limit + " can be registered, ulimit -l raises that"));
        } catch (UnusableException e) {
            return e.usability;
        } catch (VerbsException e) {
            return Usability.unusable(
                    String.valueOf(e.getMessage()),
                    "see the reason; ibv_devinfo -v shows the device, and the provider sim needs none");
        }
    }

    @Override
    public VerbsDevice open(Map<String, String> options) {
        TreeSet<String> unknown = new TreeSet<>(options.keySet());
        unknown.removeAll(OPTIONS.keySet());
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "unknown option " + String.join(", ", unknown) + ": expected one of " + OPTIONS.keySet());
        }
        String address = options.get(ADDRESS);
        List<InetAddress> addresses = address == null ? addresses() : List.of(address(address));
        try {
            return open(Optional.ofNullable(options.get(DEVICE)), addresses);
        } catch (UnusableException e) {
            throw new VerbsException(
                    VerbsErrorCode.NO_DEVICE, e.usability.reason() + "; what to do: " + e.usability.remedy(), e);
        }
    }

    /** There is no device to open. */
    private static final class UnusableException extends Exception {
        private static final long serialVersionUID = 1L;
        private final transient Usability usability;

        UnusableException(Usability usability, @Nullable Throwable cause) {
            super(usability.reason(), cause);
            this.usability = usability;
        }
    }

    private VerbsDevice open(Optional<String> device, List<InetAddress> addresses) throws UnusableException {
        try {
            return DisniDevice.open(BoundDevice.find(loader.load(), subsystem, device, addresses));
        } catch (LibraryUnavailableException e) {
            throw new UnusableException(Usability.unusable(String.valueOf(e.getMessage()), e.remedy()), e);
        } catch (IOException e) {
            throw new UnusableException(
                    subsystem.whyNoDevice(String.valueOf(e.getMessage()).strip()), e);
        } catch (VerbsException e) {
            if (e.code() != VerbsErrorCode.NO_DEVICE) {
                throw e;
            }
            throw new UnusableException(
                    Usability.unusable(
                            String.valueOf(e.getMessage()),
                            "give the device's network interface an IPv4 address (ip address add), and set the option"
                                    + " address to it; `rdma link` shows the interface of each device"),
                    e);
        }
    }

    /** The addresses of all network interfaces, loopback last. */
    private static List<InetAddress> addresses() {
        try {
            return NetworkInterface.networkInterfaces()
                    .flatMap(card -> card.getInterfaceAddresses().stream())
                    .map(InterfaceAddress::getAddress)
                    .filter(Inet4Address.class::isInstance)
                    .sorted(Comparator.comparing(InetAddress::isLoopbackAddress))
                    .toList();
        } catch (SocketException e) {
            return List.of();
        }
    }

    private static InetAddress address(String text) {
        try {
            InetAddress address = InetAddress.getByName(text);
            if (address instanceof Inet4Address && !address.isAnyLocalAddress()) {
                return address;
            }
        } catch (UnknownHostException e) {
            throw notAnAddress(text, e);
        }
        throw notAnAddress(text, null);
    }

    private static IllegalArgumentException notAnAddress(String text, @Nullable Throwable cause) {
        return new IllegalArgumentException("address=" + text + ": expected an IPv4 address of the device", cause);
    }
}
