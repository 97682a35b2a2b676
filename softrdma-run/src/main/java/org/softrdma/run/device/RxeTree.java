package org.softrdma.run.device;

import java.util.function.BooleanSupplier;
import org.softrdma.run.files.VirtualNode;
import org.softrdma.run.files.VirtualTree;

/** A device's files: sysfs and /dev/infiniband, as the kernel has them for SoftRoCE. */
public final class RxeTree {
    private static final String CLASS = "/sys/class/infiniband";
    private static final String VERBS = "/sys/class/infiniband_verbs";
    private static final String VERBS_DEVICE = VERBS + "/uverbs0";
    private static final String MANAGER = "/sys/class/misc/rdma_cm";
    private static final int MISC_MAJOR = 10;
    private static final int MANAGER_MINOR = 58;
    private static final int MANAGER_ABI = 4;
    private static final int UVERBS_MAJOR = 231;
    private static final int UVERBS_MINOR = 192;
    private static final int UVERBS_ABI = 6;
    private static final int RXE_ABI = 2;

    private RxeTree() {}

    /**
     * Its files.
     *
     * @param isPortDown asked whenever its state is read
     */
    public static VirtualTree of(RxeDevice device, BooleanSupplier isPortDown) {
        String root = CLASS + "/" + device.name();
        String guid = GidEntry.groups(device.guid());
        VirtualTree.Builder tree = VirtualTree.builder()
                .root(CLASS)
                .root(VERBS)
                .root("/sys/class/infiniband_mad")
                .root("/sys/class/infiniband_cm")
                .root(MANAGER)
                .root("/dev/infiniband")
                .node("/dev/infiniband/uverbs0", new VirtualNode.CharacterDevice(UVERBS_MAJOR, UVERBS_MINOR))
                .node("/dev/infiniband/rdma_cm", new VirtualNode.CharacterDevice(MISC_MAJOR, MANAGER_MINOR))
                .line(MANAGER + "/abi_version", MANAGER_ABI)
                .line(MANAGER + "/dev", MISC_MAJOR + ":" + MANAGER_MINOR)
                .line(VERBS + "/abi_version", UVERBS_ABI)
                .line(VERBS_DEVICE + "/ibdev", device.name())
                .line(VERBS_DEVICE + "/dev", UVERBS_MAJOR + ":" + UVERBS_MINOR)
                .line(VERBS_DEVICE + "/abi_version", RXE_ABI)
                .line(root + "/node_type", "1: CA")
                .line(root + "/node_guid", guid)
                .line(root + "/sys_image_guid", guid)
                .line(root + "/node_desc", "softrdma")
                .line(root + "/fw_ver", "")
                .line(root + "/parent", device.gids().getFirst().interfaceName())
                .node(
                        root + "/device/net/" + device.gids().getFirst().interfaceName() + "/uevent",
                        new VirtualNode.TextFile(""));
        port(tree, root + "/ports/1", device, isPortDown);
        return tree.build();
    }

    private static void port(VirtualTree.Builder tree, String root, RxeDevice device, BooleanSupplier isPortDown) {
        tree.line(root + "/link_layer", "Ethernet")
                .node(root + "/state", state(isPortDown, "1: DOWN", "4: ACTIVE"))
                .node(root + "/phys_state", state(isPortDown, "3: Disabled", "5: LinkUp"))
                .line(root + "/rate", "2.5 Gb/sec (1X SDR)")
                .line(root + "/lid", "0x0")
                .line(root + "/lid_mask_count", 0)
                .line(root + "/sm_lid", "0x0")
                .line(root + "/sm_sl", 0)
                .line(root + "/cap_mask", "0x04010000")
                .line(root + "/pkeys/0", "0xffff");
        for (int i = 0; i < device.gids().size(); i++) {
            GidEntry gid = device.gids().get(i);
            tree.line(root + "/gids/" + i, gid.text())
                    .line(root + "/gid_attrs/types/" + i, "RoCE v2")
                    .line(root + "/gid_attrs/ndevs/" + i, gid.interfaceName());
        }
    }

    private static VirtualNode state(BooleanSupplier isPortDown, String down, String up) {
        return new VirtualNode.TextFile(() -> (isPortDown.getAsBoolean() ? down : up) + "\n");
    }
}
