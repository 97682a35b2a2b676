package org.softrdma.ibverbs;

import org.softrdma.verbs.VerbsErrorCode;

/** The error numbers of Linux that providers distinguish, their names, and what they mean to the application. */
public final class Errno {
    /** Not permitted. */
    public static final int EPERM = 1;
    /** No such file. */
    public static final int ENOENT = 2;
    /** Interrupted. */
    public static final int EINTR = 4;
    /** I/O error; for a verbs object: its device was removed. */
    public static final int EIO = 5;
    /** Nothing available yet. */
    public static final int EAGAIN = 11;
    /** No memory, or over a limit. */
    public static final int ENOMEM = 12;
    /** Permission denied. */
    public static final int EACCES = 13;
    /** Memory that cannot be used. */
    public static final int EFAULT = 14;
    /** Still in use. */
    public static final int EBUSY = 16;
    /** No such device. */
    public static final int ENODEV = 19;
    /** Refused by kernel or driver. */
    public static final int EINVAL = 22;
    /** Too many descriptors. */
    public static final int EMFILE = 24;
    /** Some resource is exhausted. */
    public static final int ENOSPC = 28;
    /** The kernel has no such call. */
    public static final int ENOSYS = 38;
    /** Protocol error. */
    public static final int EPROTO = 71;
    /** Not supported. */
    public static final int EOPNOTSUPP = 95;
    /** The address is in use. */
    public static final int EADDRINUSE = 98;
    /** No such address here. */
    public static final int EADDRNOTAVAIL = 99;
    /** No route. */
    public static final int ENETUNREACH = 101;
    /** Reset by the peer. */
    public static final int ECONNRESET = 104;
    /** Not connected. */
    public static final int ENOTCONN = 107;
    /** Timed out. */
    public static final int ETIMEDOUT = 110;
    /** Nothing listens there. */
    public static final int ECONNREFUSED = 111;
    /** No route to the host. */
    public static final int EHOSTUNREACH = 113;

    private Errno() {}

    /**
     * The text of an error, such as {@code ENOMEM (12)}.
     *
     * @param number an errno of either sign
     */
    public static String text(int number) {
        int positive = Math.abs(number);
        String name = switch (positive) {
            case EPERM -> "EPERM";
            case ENOENT -> "ENOENT";
            case EINTR -> "EINTR";
            case EIO -> "EIO";
            case EAGAIN -> "EAGAIN";
            case ENOMEM -> "ENOMEM";
            case EACCES -> "EACCES";
            case EFAULT -> "EFAULT";
            case EBUSY -> "EBUSY";
            case ENODEV -> "ENODEV";
            case EINVAL -> "EINVAL";
            case EMFILE -> "EMFILE";
            case ENOSPC -> "ENOSPC";
            case ENOSYS -> "ENOSYS";
            case EPROTO -> "EPROTO";
            case EOPNOTSUPP -> "EOPNOTSUPP";
            case EADDRINUSE -> "EADDRINUSE";
            case EADDRNOTAVAIL -> "EADDRNOTAVAIL";
            case ENETUNREACH -> "ENETUNREACH";
            case ECONNRESET -> "ECONNRESET";
            case ENOTCONN -> "ENOTCONN";
            case ETIMEDOUT -> "ETIMEDOUT";
            case ECONNREFUSED -> "ECONNREFUSED";
            case EHOSTUNREACH -> "EHOSTUNREACH";
            default -> "errno";
        };
        return name + " (" + positive + ")";
    }

    /**
     * What an error means to the application.
     *
     * @param errno positive
     */
    public static VerbsErrorCode code(int errno) {
        return switch (errno) {
            case ENOMEM, EMFILE, ENOSPC -> VerbsErrorCode.NO_RESOURCES;
            case EBUSY -> VerbsErrorCode.BUSY;
            case EOPNOTSUPP, ENOSYS -> VerbsErrorCode.NOT_SUPPORTED;
            case ENODEV -> VerbsErrorCode.NO_DEVICE;
            case EADDRINUSE -> VerbsErrorCode.ADDRESS_IN_USE;
            case EADDRNOTAVAIL -> VerbsErrorCode.ADDRESS_NOT_AVAILABLE;
            case ECONNREFUSED, ENETUNREACH, EHOSTUNREACH -> VerbsErrorCode.UNREACHABLE;
            case ETIMEDOUT -> VerbsErrorCode.TIMED_OUT;
            case ECONNRESET, ENOTCONN -> VerbsErrorCode.CONNECTION_LOST;
            case EPROTO -> VerbsErrorCode.PROTOCOL;
            default -> VerbsErrorCode.OTHER;
        };
    }
}
