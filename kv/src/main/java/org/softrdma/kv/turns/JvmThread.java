package org.softrdma.kv.turns;

/** A daemon thread of the platform. */
final class JvmThread implements OwnThread {
    private final Thread thread;

    private JvmThread(Thread thread) {
        this.thread = thread;
    }

    static JvmThread start(String name, Runnable body) {
        return new JvmThread(Thread.ofPlatform().daemon().name(name).start(body));
    }

    @Override
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    @Override
    public void interrupt() {
        thread.interrupt();
    }

    @Override
    public void join() {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true; // what the thread uses must not be closed under it
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
