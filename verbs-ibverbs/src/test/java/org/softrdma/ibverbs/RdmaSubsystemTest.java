package org.softrdma.ibverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.verbs.device.VerbsProvider.Usability;

/** Why there is no device, from what the kernel shows, and what one is. */
class RdmaSubsystemTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path root;

    private void make(String... files) throws IOException {
        for (String file : files) {
            Path path = root.resolve(file);
            Files.createDirectories(path.getParent());
            Files.createFile(path);
        }
    }

    private void expect(String reason, String remedy) {
        Usability usability = new RdmaSubsystem(root).whyNoDevice("rdma_get_devices: ENODEV (19)");
        assertFalse(usability.usable());
        assertTrue(usability.reason().contains(reason), usability.reason());
        assertTrue(usability.reason().contains("ENODEV"), usability.reason());
        assertTrue(usability.remedy().contains(remedy), usability.remedy());
    }

    @Test
    void shouldNameTheModuleWhenTheKernelHasNoDevice() {
        expect("no RDMA device", "modprobe rdma_rxe; rdma link add");
    }

    @Test
    void shouldNameUverbsWhenItsNodeIsMissing() throws IOException {
        make("sys/class/infiniband/rxe0");
        expect("rxe0, but no /dev/infiniband/uverbs", "modprobe ib_uverbs");
    }

    @Test
    void shouldNameTheConnectionManagerWhenItsNodeIsMissing() throws IOException {
        make("sys/class/infiniband/rxe0", "dev/infiniband/uverbs0");
        expect("no /dev/infiniband/rdma_cm", "modprobe rdma_ucm");
    }

    @Test
    void shouldNameTheDriverLibraryWhenEverythingElseIsThere() throws IOException {
        make("sys/class/infiniband/rxe0", "dev/infiniband/uverbs0", "dev/infiniband/rdma_cm");
        expect("librdmacm cannot open any", "ibverbs-providers");
    }

    private void write(String file, String line) throws IOException {
        make(file);
        Files.writeString(root.resolve(file), line + "\n");
    }

    @Test
    void shouldNameTheDeviceBehindADescriptor() throws IOException {
        write("sys/class/infiniband_verbs/uverbs3/ibdev", "rxe0");
        Files.createDirectories(root.resolve("proc/self/fd"));
        Files.createSymbolicLink(root.resolve("proc/self/fd/17"), Path.of("/dev/infiniband/uverbs3"));
        RdmaSubsystem subsystem = new RdmaSubsystem(root);
        assertEquals(Optional.of("rxe0"), subsystem.deviceOfDescriptor(17));
        assertEquals(Optional.empty(), subsystem.deviceOfDescriptor(18));
    }

    @Test
    void shouldTellTransports() throws IOException {
        write("sys/class/infiniband/siw0/node_type", "4: RNIC");
        write("sys/class/infiniband/rxe0/node_type", "1: CA");
        write("sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet");
        write("sys/class/infiniband/mlx4_0/node_type", "1: CA");
        write("sys/class/infiniband/mlx4_0/ports/1/link_layer", "InfiniBand");
        RdmaSubsystem subsystem = new RdmaSubsystem(root);
        assertEquals(Optional.of(WireProtocol.IWARP), subsystem.transport("siw0"));
        assertEquals(Optional.of(WireProtocol.ROCE), subsystem.transport("rxe0"));
        assertEquals(Optional.of(WireProtocol.INFINIBAND), subsystem.transport("mlx4_0"));
        assertEquals(Optional.empty(), subsystem.transport("gone"));
    }
}
