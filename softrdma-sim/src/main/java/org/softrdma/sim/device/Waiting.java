package org.softrdma.sim.device;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.softrdma.net.kernel.Shortage;
import org.softrdma.net.transport.ListenException;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.queue.Progress;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.TimeLimit;

/** Waits for what an engine will do. */
final class Waiting {
    private Waiting() {}

    /**
     * Waits until a future is done or the time is over.
     *
     * @param future completed by an engine; a failure is a {@link VerbsException}
     * @param progress of the device
     * @param timeoutNs how long at most
     * @param what waited for, for the message
     * @return true if it is done, false at the end of the time
     * @throws VerbsException {@code INTERRUPTED}
     */
    static boolean await(CompletableFuture<?> future, Progress progress, long timeoutNs, String what) {
        if (!progress.isThreaded()) {
            return progress.await(future::isDone, timeoutNs, what);
        }
        try {
            future.get(Math.max(0, timeoutNs), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return future.isDone();
        } catch (ExecutionException e) {
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(VerbsErrorCode.INTERRUPTED, "interrupted while waiting for " + what, e);
        }
    }

    /**
     * Waits for a connection, and gives it up if it does not come.
     *
     * @param future of the handshake
     * @param progress of the device
     * @param timeoutNs how long at most
     * @param what waited for, for the message
     * @param giveUp makes the handshake fail with a reason
     * @return the result of the handshake
     * @throws VerbsException {@code TIMED_OUT}, {@code INTERRUPTED}, or why the handshake failed
     */
    static <T> T establish(
            CompletableFuture<T> future, Progress progress, long timeoutNs, String what, Consumer<String> giveUp) {
        try {
            if (!await(future, progress, timeoutNs, what)) {
                giveUp.accept(what + " did not come within " + TimeLimit.text(timeoutNs));
                progress.settle(future);
            }
        } catch (VerbsException e) {
            giveUp.accept(String.valueOf(e.getMessage()));
            progress.settle(future);
            if (future.state() == Future.State.FAILED) {
                throw e;
            }
        }
        return result(future);
    }

    /**
     * Runs something on an engine's thread and waits for it.
     *
     * @param engine not another one than that of the calling thread, if that is one of an engine
     * @param task what to run
     * @throws VerbsException if it failed; {@code ADDRESS_IN_USE} or {@code ADDRESS_NOT_AVAILABLE} if it could not have
     *     an address
     */
    static void onLoop(RnicEngine engine, RnicEngine.Task task) {
        CompletableFuture<Void> done = engine.submit(task);
        engine.settle(done);
        if (done.state() == Future.State.FAILED && done.exceptionNow() instanceof ListenException e) {
            throw new VerbsException(
                    Shortage.is(e) ? VerbsErrorCode.NO_RESOURCES : code(e.reason()), String.valueOf(e.getMessage()), e);
        }
        result(done);
    }

    private static VerbsErrorCode code(ListenException.Reason reason) {
        return switch (reason) {
            case IN_USE -> VerbsErrorCode.ADDRESS_IN_USE;
            case NO_PORT -> VerbsErrorCode.NO_RESOURCES;
            case NOT_PERMITTED, NOT_HERE, OTHER -> VerbsErrorCode.ADDRESS_NOT_AVAILABLE;
        };
    }

    /**
     * The result of a future that is done.
     *
     * @throws VerbsException if it failed; with the caller's stack trace, and the engine's as its cause
     */
    static <T> T result(CompletableFuture<T> future) {
        if (future.state() == Future.State.FAILED) {
            Throwable cause = future.exceptionNow();
            if (cause instanceof VerbsException verbs) {
                throw verbs.forCaller();
            }
            throw new VerbsException(
                    Shortage.is(cause) ? VerbsErrorCode.NO_RESOURCES : VerbsErrorCode.OTHER,
                    String.valueOf(cause.getMessage()),
                    cause);
        }
        return future.resultNow();
    }
}
