package org.softrdma.run.launch;

import org.softrdma.run.kernel.ErrorNumber;

/** Why there is no filter, and what to do. */
final class SeccompRefusal {
    private static final int EPERM = 1;

    private SeccompRefusal() {}

    static String sentence(int errno) {
        return switch (errno) {
            case ErrorNumber.EBUSY ->
                "this process is already below a filter with notifications, such as that of another softrdma run:"
                        + " start it outside";
            case EPERM, ErrorNumber.EACCES ->
                "seccomp is forbidden here: allow the system call seccomp in the container's profile (Docker's default"
                        + " profile allows it)";
            case ErrorNumber.ENOSYS, ErrorNumber.EINVAL ->
                "this kernel has no seccomp notifications: they need Linux 5.14 or newer, and no sandbox such as gVisor";
            default -> "seccomp failed: errno " + errno;
        };
    }
}
