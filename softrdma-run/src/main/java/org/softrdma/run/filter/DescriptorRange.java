package org.softrdma.run.filter;

/**
 * Numbers of descriptors that a program has for our devices and directories: by the number a filter knows that a call concerns us. They
 * are the last ones below 1024 that the program may have, so few programs get there by themselves, and select(2) takes them.
 *
 * @param low the first
 * @param high the one behind the last
 */
public record DescriptorRange(int low, int high) {
    private static final int BEYOND_SELECT = 1024;
    private static final int SIZE = 64;
    /** With fewer, a program would run into the range. */
    public static final int LEAST_LIMIT = 4 * SIZE;

    /**
     * The range of programs with a limit.
     *
     * @param openFiles how many descriptors one may have, at least {@link #LEAST_LIMIT}
     */
    public static DescriptorRange below(long openFiles) {
        if (openFiles < LEAST_LIMIT) {
            throw new IllegalArgumentException("limit of open files " + openFiles + " < " + LEAST_LIMIT);
        }
        int high = (int) Math.min(openFiles, BEYOND_SELECT);
        return new DescriptorRange(high - SIZE, high);
    }

    /** Whether a number is in it. */
    public boolean contains(long descriptor) {
        return descriptor >= low && descriptor < high;
    }
}
