package org.softrdma.run.rdmacm;

import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.fault.Verb;

/** The commands of rdma_cm that are answered ({@code RDMA_USER_CM_CMD_}), each with the call of librdmacm that needs it. */
enum RdmaCmCommand {
    CREATE_ID(0, Verb.RDMA_CREATE_ID),
    DESTROY_ID(1, Verb.RDMA_DESTROY_ID),
    BIND_IP(2, Verb.RDMA_BIND_ADDR),
    RESOLVE_IP(3, Verb.RDMA_RESOLVE_ADDR),
    RESOLVE_ROUTE(4, Verb.RDMA_RESOLVE_ROUTE),
    QUERY_ROUTE(5, Verb.RDMA_QUERY_ROUTE),
    CONNECT(6, Verb.RDMA_CONNECT),
    LISTEN(7, Verb.RDMA_LISTEN),
    ACCEPT(8, Verb.RDMA_ACCEPT),
    REJECT(9, Verb.RDMA_REJECT),
    DISCONNECT(10, Verb.RDMA_DISCONNECT),
    INIT_QP_ATTR(11, Verb.RDMA_INIT_QP_ATTR),
    GET_EVENT(12, Verb.RDMA_GET_CM_EVENT),
    SET_OPTION(14, Verb.RDMA_SET_OPTION),
    NOTIFY(15, Verb.RDMA_NOTIFY),
    JOIN_IP_MCAST(16, Verb.RDMA_JOIN_MULTICAST),
    LEAVE_MCAST(17, Verb.RDMA_LEAVE_MULTICAST),
    MIGRATE_ID(18, Verb.RDMA_MIGRATE_ID);

    /** Linux has this one, and those between. */
    static final int LAST = 22;

    private static final @Nullable RdmaCmCommand[] COMMANDS = commands();

    private final int number;
    private final Verb verb;

    RdmaCmCommand(int number, Verb verb) {
        this.number = number;
        this.verb = verb;
    }

    private static @Nullable RdmaCmCommand[] commands() {
        @Nullable RdmaCmCommand[] commands = new RdmaCmCommand[LAST + 1];
        for (RdmaCmCommand each : values()) {
            commands[each.number] = each;
        }
        return commands;
    }

    /** The one with a number; null for one that is not answered. */
    static @Nullable RdmaCmCommand of(int number) {
        return number >= 0 && number <= LAST ? COMMANDS[number] : null;
    }

    /** The call that needs it. */
    Verb verb() {
        return verb;
    }
}
