package org.softrdma.net.transport;

import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import java.util.AbstractQueue;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A loop whose thread no Error ends. Tasks and events have guards of their own; this is the last one, for what comes out of
 * those and of Netty's own part: a guard may find no memory for its first use of a class or a text. Nothing is lost with the
 * round that failed: tasks and timers stay in their queues, and the I/O handler raises its events again.
 *
 * <p>An exception of the I/O handler does end the thread, after those who use the loop were told ({@link #whenBroken}).
 *
 * <p>Thread: its own, except {@link #whenBroken}.
 */
final class EnduringLoop extends SingleThreadIoEventLoop {
    private static final Logger LOG = LoggerFactory.getLogger(EnduringLoop.class);

    private final Due due = new Due();
    private volatile @Nullable Runnable broken;

    EnduringLoop(IoEventLoopGroup group, Executor executor, IoHandlerFactory handlers) {
        super(group, executor, handlers);
    }

    /** What runs if the loop can no longer go on, as its last task. */
    void whenBroken(Runnable task) {
        broken = task;
    }

    @Override
    protected void run() {
        boolean ended = false;
        while (!ended) {
            try {
                super.run();
                ended = true;
            } catch (Error e) {
                LoopGuard.pause(); // and goes on: whatever else stood here could fail as well
            } catch (RuntimeException e) {
                end(e);
                throw e;
            }
        }
    }

    private void end(RuntimeException cause) {
        try {
            Runnable task = broken;
            if (task != null) {
                task.run();
            }
        } finally {
            FaultLog.tell(LOG, Level.ERROR, "an event loop cannot go on; its connections have ended", cause);
        }
    }

    /** Netty takes a timer out of one queue before it puts it into the other, and would lose it with an Error. */
    @Override
    protected boolean fetchFromScheduledTaskQueue(Queue<Runnable> tasks) {
        due.tasks = tasks;
        return super.fetchFromScheduledTaskQueue(due);
    }

    /** Takes timers that are due, if there is memory for them; else Netty puts them back. */
    private static final class Due extends AbstractQueue<Runnable> {
        private @Nullable Queue<Runnable> tasks;

        @Override
        public boolean offer(Runnable task) {
            try {
                return tasks != null && tasks.offer(task);
            } catch (OutOfMemoryError e) {
                return false;
            }
        }

        @Override
        public @Nullable Runnable poll() {
            throw new UnsupportedOperationException();
        }

        @Override
        public @Nullable Runnable peek() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Iterator<Runnable> iterator() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int size() {
            throw new UnsupportedOperationException();
        }
    }
}
