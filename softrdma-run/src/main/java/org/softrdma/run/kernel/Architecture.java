package org.softrdma.run.kernel;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A processor's numbers of system calls, and its name in seccomp and in Java. Any thread. */
public enum Architecture {
    /** x86-64, without the calls of x32 and of 32-bit programs: those see no card. */
    X86_64("amd64", 0xC000_003E),
    /** aarch64, not tried yet. */
    AARCH64("aarch64", 0xC000_00B7);

    /** By number. To look there makes no object: a call that was received would be lost if there were no memory for one. */
    private static final Map<Architecture, @Nullable LinuxCall[]> CALLS = calls();

    private final String javaName;
    private final int auditNumber;

    Architecture(String javaName, int auditNumber) {
        this.javaName = javaName;
        this.auditNumber = auditNumber;
    }

    private static Map<Architecture, @Nullable LinuxCall[]> calls() {
        Map<Architecture, @Nullable LinuxCall[]> all = new EnumMap<>(Architecture.class);
        for (Architecture each : values()) {
            int last =
                    Stream.of(LinuxCall.values()).mapToInt(each::number).max().orElse(0);
            @Nullable LinuxCall[] calls = new LinuxCall[last + 1];
            for (LinuxCall call : LinuxCall.values()) {
                if (each.has(call)) {
                    calls[each.number(call)] = call;
                }
            }
            all.put(each, calls);
        }
        return all;
    }

    /**
     * The one with that name.
     *
     * @param javaName as in Java's property os.arch
     */
    public static Optional<Architecture> named(String javaName) {
        for (Architecture each : values()) {
            if (each.javaName.equals(javaName)) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** The number by which seccomp knows it ({@code AUDIT_ARCH_}). */
    public int auditNumber() {
        return auditNumber;
    }

    /** Whether this processor has that call. */
    public boolean has(LinuxCall call) {
        return number(call) >= 0;
    }

    /** The number of a call that it {@link #has}. */
    public int number(LinuxCall call) {
        return switch (this) {
            case X86_64 -> call.onX86();
            case AARCH64 -> call.onAarch64();
        };
    }

    /** The call with that number; null for one that this module neither makes nor answers. */
    public @Nullable LinuxCall call(int number) {
        @Nullable LinuxCall[] calls = Objects.requireNonNull(CALLS.get(this));
        return number >= 0 && number < calls.length ? calls[number] : null;
    }
}
