package org.softrdma.run.launch;

import java.lang.foreign.Arena;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.RawCalls;

/** Sees by trying whether this process may have a filter with notifications. Any thread. */
public final class SeccompTrial {
    /** A filter that allows everything: one instruction. */
    private static final byte[] ALLOW_ALL = HexFormat.of().parseHex("060000000000ff7f");

    private SeccompTrial() {}

    /** Why it may not; empty if it may. */
    public static Optional<String> refusal(Architecture architecture) throws InterruptedException {
        AtomicInteger listener = new AtomicInteger();
        // A filter stays with its thread, so the thread is one that ends.
        Thread trial = Thread.ofPlatform().start(() -> {
            try (Arena arena = Arena.ofConfined()) {
                RawCalls calls = new RawCalls(architecture, arena);
                listener.set(new FilterInstaller(ALLOW_ALL, arena).install(calls));
                if (listener.get() >= 0) {
                    long ignored = calls.call(LinuxCall.CLOSE, listener.get(), 0, 0);
                }
            }
        });
        trial.join();
        return listener.get() < 0 ? Optional.of(SeccompRefusal.sentence(-listener.get())) : Optional.empty();
    }
}
