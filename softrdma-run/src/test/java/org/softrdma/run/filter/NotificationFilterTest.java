package org.softrdma.run.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.LinuxCall;

class NotificationFilterTest {
    private static final DescriptorRange RANGE = DescriptorRange.below(1024);
    private static final int ALLOW = 0x7FFF_0000;
    private static final int NOTIFY = 0x7FC0_0000;
    private static final int NO_PROTOCOL = 0x0005_005D;

    /** To be looked at when it changes: what the kernel gets. */
    private static final String ON_AARCH64 = "200000000400000015000012b70000c0200000000000000015001c0038000000"
            + "15001b00b501000015001a004f00000015001900230100001500180030000000"
            + "15001700b7010000150016004e00000015001500080000001500140009000000"
            + "150013000b000000150012000c000000150006001d00000015000800c6000000"
            + "15000c005000000015000b003d00000015000a003e0000001500090040000000"
            + "060000000000ff7f200000001800000015000900011b18c0060000000000ff7f"
            + "2000000010000000150000071000000020000000200000001500000514000000"
            + "060000005d000500200000001000000035000002c00300003500010000040000"
            + "060000000000c07f060000000000ff7f";

    @Test
    void shouldBeTheseBytesWhenTheProcessorIsAarch64() {
        assertEquals(ON_AARCH64, HexFormat.of().formatHex(NotificationFilter.of(Architecture.AARCH64, RANGE)));
    }

    private static int action(Architecture architecture, LinuxCall call, long... arguments) {
        return new BpfMachine(NotificationFilter.of(architecture, RANGE))
                .run(architecture.auditNumber(), architecture.number(call), arguments);
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotifyOfEveryCallWithAPath(Architecture architecture) {
        for (LinuxCall call : List.of(
                LinuxCall.OPEN,
                LinuxCall.OPENAT,
                LinuxCall.OPENAT2,
                LinuxCall.STAT,
                LinuxCall.LSTAT,
                LinuxCall.NEWFSTATAT,
                LinuxCall.STATX,
                LinuxCall.ACCESS,
                LinuxCall.FACCESSAT,
                LinuxCall.FACCESSAT2,
                LinuxCall.READLINK,
                LinuxCall.READLINKAT)) {
            if (architecture.has(call)) {
                assertEquals(NOTIFY, action(architecture, call), call::name);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotifyOfDescriptorsInTheRangeOnly(Architecture architecture) {
        for (LinuxCall call : List.of(LinuxCall.WRITE, LinuxCall.FSTAT, LinuxCall.GETDENTS64, LinuxCall.LSEEK)) {
            assertEquals(ALLOW, action(architecture, call, 959), call::name);
            assertEquals(NOTIFY, action(architecture, call, 960), call::name);
            assertEquals(NOTIFY, action(architecture, call, 1023), call::name);
            assertEquals(ALLOW, action(architecture, call, 1024), call::name);
            assertEquals(ALLOW, action(architecture, call, -1), call::name);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotifyOfNoIoctlButThatOfVerbs(Architecture architecture) {
        assertEquals(NOTIFY, action(architecture, LinuxCall.IOCTL, 5, 0xC018_1B01L, 0));
        assertEquals(ALLOW, action(architecture, LinuxCall.IOCTL, 5, 0x5401, 0));
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseNetlinkOfRdmaAndNoOtherSocket(Architecture architecture) {
        assertEquals(NO_PROTOCOL, action(architecture, LinuxCall.SOCKET, 16, 3, 20));
        assertEquals(ALLOW, action(architecture, LinuxCall.SOCKET, 16, 3, 0));
        assertEquals(ALLOW, action(architecture, LinuxCall.SOCKET, 2, 1, 20));
    }

    @Test
    void shouldAllowEverythingToProgramsOfAnotherArchitecture() {
        byte[] filter = NotificationFilter.of(Architecture.X86_64, RANGE);
        int open = Architecture.X86_64.number(LinuxCall.OPENAT);
        assertEquals(ALLOW, new BpfMachine(filter).run(0x4000_0003, open));
        assertEquals(ALLOW, new BpfMachine(filter).run(Architecture.X86_64.auditNumber(), 0x4000_0000 | open));
    }

    @ParameterizedTest
    @EnumSource
    void shouldAllowWhatConcernsNobody(Architecture architecture) {
        for (LinuxCall call : List.of(LinuxCall.CLOSE, LinuxCall.MMAP, LinuxCall.PPOLL, LinuxCall.PREAD64)) {
            assertEquals(ALLOW, action(architecture, call, 960), call::name);
        }
    }

    @Test
    void shouldKeepTheRangeBelowTheLimitAndBelowSelect() {
        assertEquals(new DescriptorRange(960, 1024), DescriptorRange.below(Long.MAX_VALUE));
        assertEquals(new DescriptorRange(192, 256), DescriptorRange.below(256));
        assertThrows(IllegalArgumentException.class, () -> DescriptorRange.below(255));
    }

    @Test
    void shouldRefuseAJumpThatBpfCannotMake() {
        BpfAssembler far = new BpfAssembler().ifEqual(1, "end");
        for (int i = 0; i < 256; i++) {
            far.load(0);
        }
        far.place("end").returns(ALLOW);
        assertThrows(IllegalStateException.class, far::assemble);
        assertThrows(IllegalStateException.class, new BpfAssembler().ifEqual(1, "nowhere")::assemble);
        assertThrows(
                IllegalStateException.class,
                new BpfAssembler().place("back").load(0).ifEqual(1, "back")::assemble);
    }
}
