package org.softrdma.run.host;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.softrdma.net.kernel.ProcFile;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.RawCalls;
import org.softrdma.run.launch.SeccompTrial;

/** Looks at this machine; whatever can be tried is tried. */
public final class HostCheck {
    private static final String RELEASE_FILE = "/proc/sys/kernel/osrelease";
    private static final String YAMA_FILE = "/proc/sys/kernel/yama/ptrace_scope";
    private static final Pattern RELEASE = Pattern.compile("(\\d{1,4})\\.(\\d{1,4}).*");
    private static final int MAJOR = 5;
    private static final int MINOR = 14;
    /** From this scope on an ancestor may not look into its children. */
    private static final int YAMA_ADMINISTRATORS = 2;

    private static final int VECTOR_LENGTH = 16;

    private HostCheck() {}

    /**
     * What a run needs, the first thing first.
     *
     * @param javaArchitecture as Java's property os.arch has it
     */
    public static List<HostFinding> all(String javaArchitecture) throws InterruptedException {
        Optional<Architecture> architecture = Architecture.named(javaArchitecture);
        List<HostFinding> findings = new ArrayList<>();
        findings.add(ofArchitecture(javaArchitecture));
        findings.add(ofKernel(first(RELEASE_FILE)));
        if (architecture.isPresent()) {
            findings.add(ofSeccomp(SeccompTrial.refusal(architecture.get())));
            findings.add(ofMemory(copyErrno(architecture.get()), first(YAMA_FILE)));
            findings.add(ofOpenFiles(HostLimits.openFiles(architecture.get())));
        }
        findings.add(RxeDriver.find());
        return findings;
    }

    private static String first(String file) {
        List<String> lines = ProcFile.lines(file);
        return lines.isEmpty() ? "" : lines.getFirst();
    }

    /** Of the processor. */
    static HostFinding ofArchitecture(String name) {
        Optional<Architecture> found = Architecture.named(name);
        String sentence = found.isEmpty()
                ? name + ": expected amd64 or aarch64; there is no other table of system calls yet"
                : name + (found.get() == Architecture.X86_64 ? "" : ": its table of system calls has not been tried");
        return new HostFinding("processor", found.isPresent(), sentence);
    }

    /** Of the kernel, by its release; one that cannot be read is taken for new. */
    static HostFinding ofKernel(String release) {
        Matcher matcher = RELEASE.matcher(release);
        if (!matcher.matches()) {
            return new HostFinding("kernel", true, "its version is not known");
        }
        int major = Integer.parseInt(matcher.group(1));
        boolean good = major > MAJOR || (major == MAJOR && Integer.parseInt(matcher.group(2)) >= MINOR);
        return new HostFinding(
                "kernel",
                good,
                "Linux " + release
                        + (good ? "" : ": expected 5.14 or newer, which can give a program a descriptor; update it"));
    }

    /** Of the filter. */
    static HostFinding ofSeccomp(Optional<String> refusal) {
        return new HostFinding("seccomp", refusal.isEmpty(), refusal.orElse("a filter with notifications is possible"));
    }

    /** Of the memory of programs. */
    static HostFinding ofMemory(int errno, String yamaScope) {
        if (errno != 0) {
            return new HostFinding(
                    "memory",
                    false,
                    "process_vm_readv is forbidden here (errno " + errno
                            + "): allow it and process_vm_writev in the container's profile (Docker's allows them)");
        }
        boolean good = !yamaScope.matches("\\d") || Integer.parseInt(yamaScope) < YAMA_ADMINISTRATORS;
        return new HostFinding(
                "memory",
                good,
                good
                        ? "the memory of child processes can be read"
                        : "Yama lets no process look into its children: set " + YAMA_FILE + " to 1 (it is " + yamaScope
                                + ")");
    }

    /** Of descriptors. */
    static HostFinding ofOpenFiles(long limit) {
        boolean good = limit >= DescriptorRange.LEAST_LIMIT;
        return new HostFinding(
                "open files",
                good,
                (limit == Long.MAX_VALUE ? "no limit" : "at most " + limit)
                        + (good ? "" : ": expected " + DescriptorRange.LEAST_LIMIT + " or more; raise ulimit -n"));
    }

    /** The errno of a copy from this process's own memory, which is refused only where every copy is. */
    private static int copyErrno(Architecture architecture) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment vector = arena.allocate(VECTOR_LENGTH, Long.BYTES);
            vector.set(ValueLayout.JAVA_LONG, 0, word.address());
            vector.set(ValueLayout.JAVA_LONG, Long.BYTES, Long.BYTES);
            long result = new RawCalls(architecture, arena)
                    .call(
                            LinuxCall.PROCESS_VM_READV,
                            ProcessHandle.current().pid(),
                            vector.address(),
                            1,
                            vector.address(),
                            1,
                            0);
            return result < 0 ? (int) -result : 0;
        }
    }
}
