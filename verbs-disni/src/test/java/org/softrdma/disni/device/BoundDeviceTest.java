package org.softrdma.disni.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.RdmaSubsystem;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** What finding a device tries, and that it leaves nothing behind. */
class BoundDeviceTest {
    private static final int DESCRIPTOR = 7;
    private static final List<InetAddress> ADDRESSES = List.of(InetAddress.ofLiteral("192.0.2.9"), MockedDisni.ADDRESS);

    private final MockedDisni disni = new MockedDisni();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path root;

    @BeforeEach
    void makeSysfs() throws IOException {
        Files.createDirectories(root.resolve("proc/self/fd"));
        Files.createSymbolicLink(root.resolve("proc/self/fd/" + DESCRIPTOR), Path.of("/dev/infiniband/uverbs0"));
        write("sys/class/infiniband_verbs/uverbs0/ibdev", "siw0");
        write("sys/class/infiniband/siw0/node_type", "4: RNIC");
        write("sys/class/infiniband/siw0/node_desc", "Software iWARP stack");
        when(disni.context.commandDescriptor()).thenReturn(DESCRIPTOR);
    }

    private void write(String file, String line) throws IOException {
        Files.createDirectories(root.resolve(file).getParent());
        Files.writeString(root.resolve(file), line + "\n");
    }

    private BoundDevice find(Optional<String> device) throws IOException {
        return BoundDevice.find(disni, new RdmaSubsystem(root), device, ADDRESSES);
    }

    private void firstAddressIsOfNoDevice() throws IOException {
        DisniLibrary.Id refused = disni.id();
        when(refused.context()).thenReturn(null);
        doReturn(refused).doAnswer(call -> disni.id()).when(disni.channel).createId();
    }

    @Test
    void shouldTakeTheFirstAddressThatHasADevice() throws IOException {
        firstAddressIsOfNoDevice();
        BoundDevice found = find(Optional.empty());
        assertEquals(MockedDisni.ADDRESS, found.address());
        assertEquals("siw0", found.name());
        assertEquals(Optional.of(WireProtocol.IWARP), found.transport());
        verify(disni.ids.getFirst()).destroy();
        verify(disni.last(), never()).destroy();
    }

    @Test
    void shouldKeepAQueueWhereSoftIwarpWouldRefuseOne() throws IOException {
        BoundDevice found = find(Optional.empty());
        assertEquals(Optional.of(disni.queues.getFirst()), found.siwGuard());
        verify(disni.context).createQueue(18_433, 0);
        DisniDevice device = DisniDevice.open(found);
        assertTrue(device.isSoftIwarp());
        verify(disni.queues.getFirst(), never()).destroy();
        device.close();
        verify(disni.queues.getFirst()).destroy();
    }

    @Test
    void shouldFindLimitsByTrial() throws IOException {
        when(disni.context.createQueue(anyInt(), anyInt())).thenAnswer(call -> {
            if (call.<Integer>getArgument(0) > 1000 && call.<Integer>getArgument(0) != 18_433) {
                throw new IOException("ibv_create_cq failed: Invalid argument");
            }
            return mock(DisniLibrary.Queue.class);
        });
        DisniLibrary.Id id = disni.id();
        when(id.createQueuePair(any(), any(), any(), anyInt(), anyInt(), anyInt()))
                .thenAnswer(call -> {
                    if (call.<Integer>getArgument(3) > 300 || call.<Integer>getArgument(5) > 96) {
                        throw new IOException("rdma_create_qp failed: Invalid argument");
                    }
                    return mock(DisniLibrary.Pair.class);
                });
        doReturn(id).when(disni.channel).createId();
        BoundDevice found = find(Optional.of("siw0"));
        assertEquals(511, found.capabilities().maxCompletionQueueEntries());
        assertEquals(255, found.capabilities().maxSendWorkRequests());
        assertEquals(96, found.capabilities().maxInline());
        verify(disni.domain).deallocate();
    }

    @Test
    void shouldSayWhichAddressesWereTriedWhenNoneHasADevice() throws IOException {
        doAnswer(call -> {
                    DisniLibrary.Id id = disni.id();
                    doThrow(new IOException("j2c::bind: rdma_bind_addr failed: No such device\n"))
                            .when(id)
                            .bind(any());
                    return id;
                })
                .when(disni.channel)
                .createId();
        VerbsException failure = assertThrows(VerbsException.class, () -> find(Optional.empty()));
        assertEquals(VerbsErrorCode.NO_DEVICE, failure.code());
        String message = String.valueOf(failure.getMessage());
        assertTrue(message.contains("192.0.2.9") && message.contains("192.0.2.1"), message);
        for (DisniLibrary.Id id : disni.ids) {
            verify(id).destroy();
        }
        verify(disni.channel).destroy();
    }

    @Test
    void shouldNotTakeAnotherDevice() {
        VerbsException failure = assertThrows(VerbsException.class, () -> find(Optional.of("mlx5_0")));
        assertTrue(String.valueOf(failure.getMessage()).contains("mlx5_0"), failure.getMessage());
    }

    @Test
    void shouldLeaveNothingBehindWhenATrialFails() throws IOException {
        when(disni.context.allocateDomain()).thenThrow(new IOException("ibv_alloc_pd failed: Cannot allocate memory"));
        assertThrows(IOException.class, () -> find(Optional.empty()));
        verify(disni.last()).destroy();
        verify(disni.channel).destroy();
    }
}
