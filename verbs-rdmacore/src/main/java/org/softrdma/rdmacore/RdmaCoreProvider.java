package org.softrdma.rdmacore;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.softrdma.ibverbs.LibraryUnavailableException;
import org.softrdma.ibverbs.LockedMemory;
import org.softrdma.ibverbs.RdmaSubsystem;
import org.softrdma.rdmacore.abi.AbiMismatchException;
import org.softrdma.rdmacore.abi.NativeVerbsLibrary;
import org.softrdma.rdmacore.device.CoreDevice;
import org.softrdma.rdmacore.device.DeviceList;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/** The provider {@code rdmacore}: RNICs, SoftRoCE and SoftiWARP through the distribution's rdma-core. */
public final class RdmaCoreProvider implements VerbsProvider {
    private static final String NAME = "rdmacore";
    private static final String DEVICE = "device";
    private static final String ADDRESS = "address";
    private static final Map<String, String> OPTIONS = options(
            DEVICE, "device name as shown by `rdma link` or ibv_devices, such as rxe0 (default: the first one)",
            ADDRESS, "the device's IP address to connect from (default: chosen by routing)");

    /** For the service loader. */
    public RdmaCoreProvider() {}

    private static Map<String, String> options(String... namesAndHelp) {
        Map<String, String> options = new LinkedHashMap<>();
        for (int i = 0; i < namesAndHelp.length; i += 2) {
            options.put(namesAndHelp[i], namesAndHelp[i + 1]);
        }
        return java.util.Collections.unmodifiableMap(options);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Map<String, String> options() {
        return OPTIONS;
    }

    @Override
    public Usability usability() {
        try {
            NativeVerbsLibrary library = NativeVerbsLibrary.load();
            try (DeviceList devices = DeviceList.open(library)) {
                List<Long> contexts = devices.contexts();
                return contexts.isEmpty()
                        ? RdmaSubsystem.ofThisMachine().whyNoDevice(devices.problem())
                        : usable(library, contexts);
            }
        } catch (LibraryUnavailableException e) {
            return Usability.unusable(String.valueOf(e.getMessage()), e.remedy());
        }
    }

    /** Opens each device, which is the only way to know whether it is usable. */
    private static Usability usable(NativeVerbsLibrary library, List<Long> contexts) {
        List<String> good = new ArrayList<>();
        List<String> bad = new ArrayList<>();
        for (long context : contexts) {
            try (VerbsDevice device = device(library, DeviceList.open(library), context, Optional.empty())) {
                good.add(device.name());
            } catch (VerbsException | AbiMismatchException e) {
                bad.add(CoreDevice.deviceName(context) + ": " + e.getMessage());
            }
        }
        LockedMemory limit = LockedMemory.ofThisProcess();
        String found = String.join(", ", good)
                + (limit.isUnlimited() ? "" : "; at most " + limit + " can be registered, ulimit -l raises that")
                + (bad.isEmpty() ? "" : "; not usable: " + String.join("; ", bad));
        return good.isEmpty()
                ? Usability.unusable(
                        String.join("; ", bad),
                        "see the reason; ibv_devinfo -v shows the device, and the provider sim needs none")
                : Usability.usable(found);
    }

    @Override
    public VerbsDevice open(Map<String, String> options) {
        TreeSet<String> unknown = new TreeSet<>(options.keySet());
        unknown.removeAll(OPTIONS.keySet());
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "unknown option " + String.join(", ", unknown) + ": expected one of " + OPTIONS.keySet());
        }
        Optional<InetSocketAddress> address =
                Optional.ofNullable(options.get(ADDRESS)).map(RdmaCoreProvider::address);
        NativeVerbsLibrary library;
        try {
            library = NativeVerbsLibrary.load();
        } catch (LibraryUnavailableException e) {
            throw noDevice(Usability.unusable(String.valueOf(e.getMessage()), e.remedy()), e);
        }
        DeviceList devices = DeviceList.open(library);
        try {
            return device(library, devices, context(devices, options.get(DEVICE)), address);
        } catch (AbiMismatchException e) {
            throw noDevice(
                    Usability.unusable(String.valueOf(e.getMessage()), "use the rdma-core of a current distribution"),
                    e);
        } catch (RuntimeException e) {
            devices.close();
            throw e;
        }
    }

    /** A device that owns the list; if it cannot be opened, the list is closed. */
    private static CoreDevice device(
            NativeVerbsLibrary library, DeviceList devices, long context, Optional<InetSocketAddress> address) {
        try {
            return new CoreDevice(NAME, library, devices, context, address);
        } catch (RuntimeException e) {
            devices.close();
            throw e;
        }
    }

    private static InetSocketAddress address(String text) {
        try {
            return new InetSocketAddress(InetAddress.getByName(text), 0);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("address=" + text + ": expected an IP address of the device", e);
        }
    }

    private static long context(DeviceList devices, @org.jspecify.annotations.Nullable String name) {
        List<Long> contexts = devices.contexts();
        if (contexts.isEmpty()) {
            throw noDevice(RdmaSubsystem.ofThisMachine().whyNoDevice(devices.problem()), null);
        }
        if (name == null) {
            return contexts.getFirst();
        }
        List<String> names = contexts.stream().map(CoreDevice::deviceName).toList();
        int index = names.indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException("device=" + name + ": expected one of " + String.join(", ", names));
        }
        return contexts.get(index);
    }

    private static VerbsException noDevice(Usability usability, @org.jspecify.annotations.Nullable Throwable cause) {
        return new VerbsException(
                VerbsErrorCode.NO_DEVICE, usability.reason() + "; what to do: " + usability.remedy(), cause);
    }
}
