package org.softrdma.run.filter;

import java.util.List;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.LinuxCall;

/**
 * The filter of a program that is run: calls with a path, because it may be ours; the ioctl of uverbs; calls on descriptors of the
 * {@link DescriptorRange}. Everything else is the kernel's, at once: that costs a program nothing, because Linux remembers which
 * numbers are always allowed. Netlink of RDMA is refused, so that libraries read sysfs instead, which is ours.
 */
public final class NotificationFilter {
    /** {@code RDMA_VERBS_IOCTL}. */
    public static final int VERBS_IOCTL = 0xC018_1B01;

    private static final List<LinuxCall> WITH_PATH = List.of(
            LinuxCall.OPENAT,
            LinuxCall.OPEN,
            LinuxCall.OPENAT2,
            LinuxCall.NEWFSTATAT,
            LinuxCall.STATX,
            LinuxCall.STAT,
            LinuxCall.LSTAT,
            LinuxCall.ACCESS,
            LinuxCall.FACCESSAT,
            LinuxCall.FACCESSAT2,
            LinuxCall.READLINK,
            LinuxCall.READLINKAT,
            LinuxCall.GETXATTR,
            LinuxCall.LGETXATTR,
            LinuxCall.LISTXATTR,
            LinuxCall.LLISTXATTR);
    private static final List<LinuxCall> ON_DESCRIPTOR =
            List.of(LinuxCall.FSTAT, LinuxCall.GETDENTS64, LinuxCall.LSEEK, LinuxCall.WRITE);

    private static final int NUMBER_OFFSET = 0;
    private static final int ARCHITECTURE_OFFSET = 4;
    private static final int ARGUMENTS_OFFSET = 16;
    private static final int ALLOW = 0x7FFF_0000;
    private static final int NOTIFY = 0x7FC0_0000;
    private static final int REFUSE = 0x0005_0000;
    private static final int AF_NETLINK = 16;
    private static final int NETLINK_RDMA = 20;

    private NotificationFilter() {}

    /** The filter as BPF. */
    public static byte[] of(Architecture architecture, DescriptorRange range) {
        BpfAssembler filter = new BpfAssembler()
                .load(ARCHITECTURE_OFFSET)
                .unlessEqual(architecture.auditNumber(), "allow")
                .load(NUMBER_OFFSET);
        for (LinuxCall call : WITH_PATH) {
            if (architecture.has(call)) {
                filter.ifEqual(architecture.number(call), "notify");
            }
        }
        filter.ifEqual(architecture.number(LinuxCall.IOCTL), "ioctl");
        filter.ifEqual(architecture.number(LinuxCall.SOCKET), "socket");
        for (LinuxCall call : ON_DESCRIPTOR) {
            filter.ifEqual(architecture.number(call), "descriptor");
        }
        return filter.place("allow")
                .returns(ALLOW)
                .place("ioctl")
                .load(argument(1))
                .ifEqual(VERBS_IOCTL, "notify")
                .returns(ALLOW)
                .place("socket")
                .load(argument(0))
                .unlessEqual(AF_NETLINK, "allow at last")
                .load(argument(2))
                .unlessEqual(NETLINK_RDMA, "allow at last")
                .returns(REFUSE | ErrorNumber.EPROTONOSUPPORT)
                .place("descriptor")
                .load(argument(0))
                .ifBelow(range.low(), "allow at last")
                .ifAtLeast(range.high(), "allow at last")
                .place("notify")
                .returns(NOTIFY)
                .place("allow at last")
                .returns(ALLOW)
                .assemble();
    }

    /** The low half of an argument, on a little endian machine. */
    private static int argument(int index) {
        return ARGUMENTS_OFFSET + index * Long.BYTES;
    }
}
