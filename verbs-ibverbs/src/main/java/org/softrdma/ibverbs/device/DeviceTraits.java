package org.softrdma.ibverbs.device;

import java.util.Set;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;

/** What kind of device it is, for its objects. Constant while the device is open. */
public interface DeviceTraits {
    /** Name for messages. */
    String name();

    /** Limits and features. */
    Capabilities capabilities();

    /** True on iWARP and on an unknown transport: the handling of iWARP suits every transport. */
    boolean isIwarp();

    /** True on the kernel's SoftiWARP. */
    boolean isSoftIwarp();

    /** Optional features of every connection. */
    Set<Feature> connectionFeatures();
}
