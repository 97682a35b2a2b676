package org.softrdma.ibverbs;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.softrdma.verbs.device.VerbsProvider.Usability;

/**
 * What the kernel of a machine shows about RDMA in {@code sys/class/infiniband} and {@code dev/infiniband}: why there
 * is no device, and what a device is.
 *
 * @param root of the file system; {@code /} except in tests
 */
public record RdmaSubsystem(Path root) {
    private static final String MAKE_A_DEVICE =
            "modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0, as root, with your network interface for eth0"
                    + " (that is SoftRoCE; put siw for rxe to get SoftiWARP); or use the provider sim";

    private static final String SOFT_IWARP = "Software iWARP";
    private static final String ROCE_VERSION_2 = "RoCE v2";
    /** The {@code node_type} of iWARP devices, {@code RDMA_NODE_RNIC}. */
    private static final String RNIC = "4:";

    /** The subsystem of this machine's kernel. */
    public static RdmaSubsystem ofThisMachine() {
        return new RdmaSubsystem(Path.of("/"));
    }

    /**
     * Why librdmacm found no device.
     *
     * @param problem its error, or empty
     */
    public Usability whyNoDevice(String problem) {
        String told = problem.isEmpty() ? "" : " (" + problem + ")";
        List<String> devices = names(root.resolve("sys/class/infiniband"));
        if (devices.isEmpty()) {
            return Usability.unusable("the kernel has no RDMA device" + told, MAKE_A_DEVICE);
        }
        String found = "the kernel has " + String.join(", ", devices) + ", but ";
        List<String> nodes = names(root.resolve("dev/infiniband"));
        if (nodes.stream().noneMatch(name -> name.startsWith("uverbs"))) {
            return Usability.unusable(
                    found + "no /dev/infiniband/uverbs*" + told,
                    "modprobe ib_uverbs; in a container: --device /dev/infiniband");
        }
        if (!nodes.contains("rdma_cm")) {
            return Usability.unusable(
                    found + "no /dev/infiniband/rdma_cm" + told,
                    "modprobe rdma_ucm; in a container: --device /dev/infiniband");
        }
        for (String name : nodes) {
            Path node = root.resolve("dev/infiniband").resolve(name);
            if ((name.startsWith("uverbs") || name.equals("rdma_cm")) && !Files.isWritable(node)) {
                return Usability.unusable(
                        found + "/dev/infiniband/" + name + " is not writable" + told,
                        "chmod 666 /dev/infiniband/" + name + ", or add a udev rule, or run as root");
            }
        }
        return Usability.unusable(
                found + "librdmacm cannot open any of them" + told,
                "install the driver libraries (Debian: apt-get install ibverbs-providers; Fedora: dnf install"
                        + " rdma-core), then run ibv_devinfo");
    }

    /**
     * Name of the device behind a descriptor of this process, {@code ibv_context.cmd_fd}.
     *
     * @param descriptor open on {@code /dev/infiniband/uverbs*}
     * @return empty if the kernel does not tell
     */
    public Optional<String> deviceOfDescriptor(int descriptor) {
        try {
            Path node = Files.readSymbolicLink(root.resolve("proc/self/fd/" + descriptor))
                    .getFileName();
            return line("sys/class/infiniband_verbs/" + node + "/ibdev");
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * The transport of a device.
     *
     * @param device its name
     * @return empty if the kernel does not tell
     */
    public Optional<WireProtocol> transport(String device) {
        String folder = "sys/class/infiniband/" + device + "/";
        return line(folder + "node_type")
                .flatMap(type -> type.startsWith(RNIC)
                        ? Optional.of(WireProtocol.IWARP)
                        : line(folder + "ports/1/link_layer")
                                .map(layer -> layer.equals("Ethernet") ? WireProtocol.ROCE : WireProtocol.INFINIBAND));
    }

    /**
     * True if a device is the kernel's SoftiWARP, by its description ({@code SIW_NODE_DESC_COMMON}).
     *
     * @param device its name
     */
    public boolean isSoftIwarp(String device) {
        return line("sys/class/infiniband/" + device + "/node_desc")
                .filter(text -> text.startsWith(SOFT_IWARP))
                .isPresent();
    }

    /**
     * True if an entry of a port's table of GIDs is of RoCE version 2, which runs over UDP; also if the kernel does not
     * tell.
     *
     * @param device its name
     * @param port number of the port
     * @param index of the entry
     */
    public boolean isRoceVersion2(String device, int port, int index) {
        return line("sys/class/infiniband/" + device + "/ports/" + port + "/gid_attrs/types/" + index)
                .map(type -> type.equals(ROCE_VERSION_2))
                .orElse(true);
    }

    private Optional<String> line(String file) {
        try {
            return Optional.of(Files.readString(root.resolve(file)).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static List<String> names(Path folder) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            entries.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
        } catch (IOException e) {
            return List.of();
        }
        names.sort(null);
        return names;
    }
}
