package org.softrdma.run.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.run.files.VirtualNode;
import org.softrdma.run.files.VirtualTree;

class RxeDeviceTest {
    private static GidEntry gid(String address, String interfaceName) throws UnknownHostException {
        return new GidEntry(InetAddress.getByName(address), interfaceName);
    }

    private static RxeDevice device(int frameLength) throws UnknownHostException {
        return RxeDevice.of(List.of(gid("192.0.2.7", "eth0"), gid("fe80::1:2", "eth1")), frameLength);
    }

    private static String text(VirtualTree tree, String path) {
        return assertInstanceOf(VirtualNode.TextFile.class, tree.node(path), path)
                .text();
    }

    @Test
    void shouldWriteGidsAsSysfsDoes() throws UnknownHostException {
        assertEquals(
                "0000:0000:0000:0000:0000:ffff:c000:0207",
                gid("192.0.2.7", "eth0").text());
        assertEquals(
                "fe80:0000:0000:0000:0000:0000:0001:0002",
                gid("fe80::1:2", "eth0").text());
    }

    @ParameterizedTest
    @CsvSource({"1500, 1024, 3", "65536, 4096, 5", "9000, 4096, 5", "4176, 4096, 5", "4175, 2048, 4", "68, 256, 1"})
    void shouldHaveTheLargestTransferUnitThatFits(int frameLength, int unit, int code) throws UnknownHostException {
        assertEquals(unit, device(frameLength).transferUnit());
        assertEquals(code, device(frameLength).transferUnitCode());
    }

    @Test
    void shouldHaveAGuidOfItsAddress() throws UnknownHostException {
        assertEquals(0x0250_FFFE_C000_0207L, device(1500).guid());
        assertEquals(
                0x0250_FFFE_0001_0002L,
                RxeDevice.of(List.of(gid("fe80::1:2", "eth1")), 1500).guid());
    }

    @Test
    void shouldAlwaysHaveAGid() throws Exception {
        RxeDevice here = RxeDevice.ofThisHost();
        assertFalse(here.gids().isEmpty());
        assertTrue(here.name().startsWith("rxe"), here::name); // by this rdma-core chooses the driver
    }

    @Test
    void shouldHaveTheFilesByWhichLibrariesFindIt() throws UnknownHostException {
        VirtualTree tree = RxeTree.of(device(1500), () -> false);
        assertEquals("rxe0\n", text(tree, "/sys/class/infiniband_verbs/uverbs0/ibdev"));
        assertEquals("231:192\n", text(tree, "/sys/class/infiniband_verbs/uverbs0/dev"));
        assertEquals("6\n", text(tree, "/sys/class/infiniband_verbs/abi_version"));
        assertEquals("0250:fffe:c000:0207\n", text(tree, "/sys/class/infiniband/rxe0/node_guid"));
        String port = "/sys/class/infiniband/rxe0/ports/1/";
        assertEquals("fe80:0000:0000:0000:0000:0000:0001:0002\n", text(tree, port + "gids/1"));
        assertEquals("RoCE v2\n", text(tree, port + "gid_attrs/types/1"));
        assertEquals("eth1\n", text(tree, port + "gid_attrs/ndevs/1"));
        assertNull(tree.node(port + "gids/2"));
        assertEquals(new VirtualNode.CharacterDevice(231, 192), tree.node("/dev/infiniband/uverbs0"));
        assertEquals(new VirtualNode.Directory(List.of("rxe0")), tree.node("/sys/class/infiniband"));
    }

    @Test
    void shouldCoverWholeDirectoriesAndNothingBesideThem() throws UnknownHostException {
        VirtualTree tree = RxeTree.of(device(1500), () -> false);
        assertTrue(tree.covers("/sys/class/infiniband/mlx5_0"));
        assertTrue(tree.covers("/sys/class/infiniband"));
        assertFalse(tree.covers("/sys/class/infinibandage"));
        assertFalse(tree.covers("/sys/class"));
        assertFalse(tree.covers("/dev/infinibander"));
    }
}
