package org.softrdma.fabric.fault;

/** What a verb fails with: names and numbers of Linux, errno(3). */
public enum VerbError {
    EPERM(1),
    EIO(5),
    EAGAIN(11),
    ENOMEM(12),
    EACCES(13),
    EFAULT(14),
    EBUSY(16),
    ENODEV(19),
    EINVAL(22),
    ENFILE(23),
    EMFILE(24),
    ENOSPC(28),
    EOPNOTSUPP(95),
    ENETDOWN(100),
    ENETUNREACH(101),
    ETIMEDOUT(110);

    private final int number;

    VerbError(int number) {
        this.number = number;
    }

    /** The number of Linux. */
    public int number() {
        return number;
    }
}
