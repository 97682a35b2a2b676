package org.softrdma.kv.server.session;

/** Looks into the budget of a server's answers. */
public final class OutputBudgets {
    private OutputBudgets() {}

    /** Bytes that the buffers of answers take. */
    public static long used(KvService service) {
        return service.outputBudget().used();
    }
}
