package org.softrdma.bench.machine;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A link of a limited rate between this process and servers on this machine. The servers run in a network namespace of their
 * own, the link is a pair of virtual interfaces (veth(4)), and each end sends through a token bucket filter (tc-tbf(8)), so the
 * rate holds for either direction. Headers count: at 1 Gbit/s about 0.94 Gbit/s are left for TCP's payload.
 *
 * <p>It takes root, iproute2 and a kernel that has all three. The namespace is removed by {@link #close} and at the end of this
 * process, short of SIGKILL. Belongs to the thread of the study.
 */
public final class ShapedLink implements AutoCloseable {
    private static final String INNER = "uplink";
    private static final String ROOT = "root";
    /** Of 198.18.0.0/15, which RFC 2544 sets aside for measurements, four addresses for each process. */
    private static final int SUBNETS = 1 << 14;

    private static final int NEAR = 1;
    private static final int FAR = 2;
    private static final int BYTE_BITS = 8;
    /** Longer than the kernel's largest packet, 64 KiB before segmentation. */
    private static final long LEAST_BURST_BYTES = 128 << 10;
    /** How much may go at once after a pause, as time of the link: much less than a round. */
    private static final long BURST_PER_SECOND = 1000;

    private final String name;
    private final String address;
    private final Thread hook = Thread.ofPlatform().name("end of the link").unstarted(this::remove);
    private int limit;

    private ShapedLink(int process, int megabits) throws IOException {
        name = "srl" + process;
        int subnet = process % SUBNETS;
        String prefix = "198.18." + (subnet >> 6) + ".";
        int first = (subnet & 0x3F) << 2;
        address = prefix + (first + FAR);
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            ip("netns", "add", name);
            ip("link", "add", name, "type", "veth", "peer", "name", INNER, "netns", name);
            ip("addr", "add", prefix + (first + NEAR) + "/30", "dev", name);
            ip("link", "set", "dev", name, "up");
            inside("addr", "add", address + "/30", "dev", INNER);
            inside("link", "set", "dev", INNER, "up");
            inside("link", "set", "dev", "lo", "up");
            limit(megabits);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * What was found.
     *
     * @param link empty if there can be none
     * @param problem why there is none; empty if there is one
     */
    public record Found(Optional<ShapedLink> link, String problem) {}

    /**
     * Makes a link, if this machine and our rights allow one.
     *
     * @param megabits its rate at first, as of {@link #limit}
     */
    public static Found find(int megabits) {
        if (!ROOT.equals(ProcessHandle.current().info().user().orElse(""))) {
            return new Found(Optional.empty(), "a link of a limited rate takes root, for network namespaces");
        }
        try {
            return new Found(
                    Optional.of(new ShapedLink((int) ProcessHandle.current().pid(), megabits)), "");
        } catch (IOException e) {
            return new Found(
                    Optional.empty(),
                    "a link of a limited rate takes iproute2, and a kernel with network namespaces, veth and tbf: "
                            + e.getMessage());
        }
    }

    /** What to put before a command so that it runs at the far end; its process number stays the same. */
    public List<String> prefix() {
        return List.of("ip", "netns", "exec", name);
    }

    /** The address of the far end, on which servers there listen. */
    public InetAddress address() {
        try {
            return InetAddress.getByName(address);
        } catch (IOException e) {
            throw new IllegalStateException(address, e); // digits are not looked up
        }
    }

    /**
     * Sets the rate of both directions.
     *
     * @param megabits in Mbit/s, headers of Ethernet included, at least 1
     * @throws IOException if the kernel refuses
     */
    public void limit(int megabits) throws IOException {
        if (megabits < 1) {
            throw new IllegalArgumentException("rate " + megabits + " Mbit/s: expected at least 1");
        }
        if (megabits == limit) {
            return;
        }
        long bytesPerSecond = megabits * 1_000_000L / BYTE_BITS;
        List<String> filter = List.of(
                "root",
                "tbf",
                "rate",
                megabits + "mbit",
                "burst",
                Long.toString(Math.max(LEAST_BURST_BYTES, bytesPerSecond / BURST_PER_SECOND)),
                "latency",
                "50ms");
        shape(List.of("tc", "qdisc", "replace", "dev", name), filter);
        shape(List.of("tc", "-n", name, "qdisc", "replace", "dev", INNER), filter);
        limit = megabits;
    }

    private static void shape(List<String> end, List<String> filter) throws IOException {
        List<String> command = new ArrayList<>(end);
        command.addAll(filter);
        SystemCommand.run(command);
    }

    private static void ip(String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(words));
        SystemCommand.run(command);
    }

    private void inside(String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of("-n", name));
        command.addAll(List.of(words));
        ip(command.toArray(String[]::new));
    }

    /** The interfaces first: a namespace lives on while a process is in it. */
    private void remove() {
        for (List<String> command : List.of(List.of("ip", "link", "del", name), List.of("ip", "netns", "del", name))) {
            try {
                SystemCommand.run(command);
            } catch (IOException e) {
                // It was not made, or is gone.
            }
        }
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // this process is ending: the hook removes it
        }
        remove();
    }
}
