package org.softrdma.bench.perf;

import java.util.Map;
import org.softrdma.verbs.device.VerbsDevice;

/** Opens the device a study runs on; the provider behind it is chosen by {@code main}. */
@FunctionalInterface
public interface DeviceFactory {
    /**
     * Opens a device.
     *
     * @param options what the study needs, for example {@code progress=manual}; a user's own options win
     */
    VerbsDevice open(Map<String, String> options);
}
