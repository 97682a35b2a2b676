package org.softrdma.run.kernel;

/**
 * System calls that this module makes or answers, with their numbers on x86-64 and on aarch64, which lacks some of them. Those of aarch64
 * are from its table and have not been tried.
 */
public enum LinuxCall {
    READ(0, 63),
    WRITE(1, 64),
    OPEN(2),
    CLOSE(3, 57),
    STAT(4),
    FSTAT(5, 80),
    LSTAT(6),
    LSEEK(8, 62),
    MMAP(9, 222),
    MUNMAP(11, 215),
    IOCTL(16, 29),
    PREAD64(17, 67),
    PWRITE64(18, 68),
    ACCESS(21),
    SOCKET(41, 198),
    WAIT4(61, 260),
    KILL(62, 129),
    FCNTL(72, 25),
    FTRUNCATE(77, 46),
    READLINK(89),
    PRCTL(157, 167),
    GETTID(186, 178),
    GETXATTR(191, 8),
    LGETXATTR(192, 9),
    LISTXATTR(194, 11),
    LLISTXATTR(195, 12),
    GETDENTS64(217, 61),
    OPENAT(257, 56),
    NEWFSTATAT(262, 79),
    READLINKAT(267, 78),
    FACCESSAT(269, 48),
    PPOLL(271, 73),
    EVENTFD2(290, 19),
    PIPE2(293, 59),
    PRLIMIT64(302, 261),
    PROCESS_VM_READV(310, 270),
    PROCESS_VM_WRITEV(311, 271),
    SECCOMP(317, 277),
    MEMFD_CREATE(319, 279),
    STATX(332, 291),
    CLOSE_RANGE(436, 436),
    OPENAT2(437, 437),
    FACCESSAT2(439, 439);

    private static final int ABSENT = -1;

    private final int onX86;
    private final int onAarch64;

    LinuxCall(int onX86) {
        this(onX86, ABSENT);
    }

    LinuxCall(int onX86, int onAarch64) {
        this.onX86 = onX86;
        this.onAarch64 = onAarch64;
    }

    int onX86() {
        return onX86;
    }

    int onAarch64() {
        return onAarch64;
    }
}
