package org.softrdma.rdmacore.fake;

import java.util.Map;
import java.util.Optional;
import org.softrdma.rdmacore.device.CoreDevice;
import org.softrdma.rdmacore.device.DeviceList;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/** Devices of the real provider on one fake machine. */
abstract class FakeProvider implements VerbsProvider {
    private final String name;
    private final FakeVerbsLibrary library;

    FakeProvider(String name, String device, boolean iwarp) {
        this.name = name;
        library = new FakeVerbsLibrary(device, iwarp);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Usability usability() {
        return Usability.usable("a fake");
    }

    @Override
    public Map<String, String> options() {
        return Map.of();
    }

    @Override
    public VerbsDevice open(Map<String, String> options) {
        if (!options.isEmpty()) {
            throw new IllegalArgumentException("unknown option " + options.keySet());
        }
        return new CoreDevice(name, library, DeviceList.open(library), library.context(), Optional.empty());
    }
}
