package org.softrdma.sim.peer;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.softrdma.net.kernel.SystemCalls;

/**
 * Two hosts with a router between them, made of network namespaces of this machine. The router can stop to forward, without a
 * word to either: then each host is gone for the other. A socket belongs to the namespace of the thread that makes it, and a
 * thread to that of the one that starts it, so a device that was opened on a host has its engines there.
 */
final class TwoHosts implements AutoCloseable {
    /** Which of the two. */
    enum Host {
        LEFT,
        RIGHT
    }

    private static final int CLONE_NEWNET = 0x4000_0000;
    private static final long COMMAND_SECONDS = 20;
    private static final MethodHandle OPEN = SystemCalls.function(
            "open",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle SETNS = SystemCalls.function(
            "setns", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle CLOSE =
            SystemCalls.function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private final String prefix = "srt" + ProcessHandle.current().pid() + "-";
    private final String router = prefix + "router";

    private TwoHosts() throws IOException {
        try {
            for (String namespace : List.of(router, name(Host.LEFT), name(Host.RIGHT))) {
                command("ip", "netns", "add", namespace);
                command("ip", "-n", namespace, "link", "set", "dev", "lo", "up");
            }
            attach(Host.LEFT, "toleft");
            attach(Host.RIGHT, "toright");
            forward(true);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** The hosts, or why there can be none here. */
    static Optional<TwoHosts> make(StringBuilder why) throws IOException {
        if (!"root".equals(System.getProperty("user.name"))) {
            why.append("needs root for network namespaces");
            return Optional.empty();
        }
        try {
            return Optional.of(new TwoHosts());
        } catch (IOException e) {
            why.append("needs iproute2 and a kernel with network namespaces and veth: ")
                    .append(e.getMessage());
            return Optional.empty();
        }
    }

    private String name(Host host) {
        return prefix + host;
    }

    private static String address(Host host, int last) {
        return "10.97." + host.ordinal() + "." + last;
    }

    /** The address of a host. */
    static InetAddress address(Host host) throws IOException {
        return InetAddress.getByName(address(host, 2));
    }

    private void attach(Host host, String link) throws IOException {
        String namespace = name(host);
        command("ip", "-n", router, "link", "add", link, "type", "veth", "peer", "name", "uplink", "netns", namespace);
        command("ip", "-n", router, "addr", "add", address(host, 1) + "/24", "dev", link);
        command("ip", "-n", router, "link", "set", "dev", link, "up");
        command("ip", "-n", namespace, "addr", "add", address(host, 2) + "/24", "dev", "uplink");
        command("ip", "-n", namespace, "link", "set", "dev", "uplink", "up");
        command("ip", "-n", namespace, "route", "add", "default", "via", address(host, 1));
    }

    /** From now on the router forwards, or drops everything. */
    void forward(boolean on) throws IOException {
        command("ip", "netns", "exec", router, "sh", "-c", "echo " + (on ? 1 : 0) + " > /proc/sys/net/ipv4/ip_forward");
    }

    /** Does something on a host. */
    <T> T on(Host host, Callable<T> work) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                enter("/run/netns/" + name(host));
                result.complete(work.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result.get(COMMAND_SECONDS, TimeUnit.SECONDS);
    }

    private static void enter(String namespace) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocateFrom(namespace);
            int descriptor = (int) OPEN.invokeExact(path, 0);
            int entered = (int) SETNS.invokeExact(descriptor, CLONE_NEWNET);
            int closed = (int) CLOSE.invokeExact(descriptor);
            if (entered != 0 || closed != 0) {
                throw new IOException("cannot enter " + namespace);
            }
        }
    }

    private static void command(String... words) throws IOException {
        Path output = Files.createTempFile("two-hosts", ".txt");
        try {
            File file = output.toFile();
            Process process = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectOutput(file)
                    .start();
            try {
                boolean ended = process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS);
                if (!ended || process.exitValue() != 0) {
                    process.destroyForcibly();
                    throw new IOException(
                            String.join(" ", words) + ": " + Files.readString(output, StandardCharsets.UTF_8));
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
                throw new IOException("interrupted in " + String.join(" ", words), e);
            }
        } finally {
            Files.delete(output);
        }
    }

    @Override
    public void close() throws IOException {
        for (String namespace : List.of(router, name(Host.LEFT), name(Host.RIGHT))) {
            if (Files.exists(Path.of("/run/netns", namespace))) {
                command("ip", "netns", "del", namespace);
            }
        }
    }
}
