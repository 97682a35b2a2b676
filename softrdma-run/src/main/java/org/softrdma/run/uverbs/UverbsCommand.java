package org.softrdma.run.uverbs;

import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.fault.Verb;

/** The commands of uverbs that are answered, extended or not ({@code enum ib_uverbs_write_cmds}), each with its verb. */
enum UverbsCommand {
    GET_CONTEXT(0, Verb.OPEN_DEVICE),
    QUERY_DEVICE(1, Verb.QUERY_DEVICE),
    QUERY_PORT(2, Verb.QUERY_PORT),
    ALLOC_PD(3, Verb.ALLOC_PD),
    DEALLOC_PD(4, Verb.DEALLOC_PD),
    CREATE_AH(5, Verb.CREATE_AH),
    DESTROY_AH(8, Verb.DESTROY_AH),
    REG_MR(9, Verb.REG_MR),
    REREG_MR(11, Verb.REREG_MR),
    DEREG_MR(13, Verb.DEREG_MR),
    ALLOC_MW(14, Verb.ALLOC_MW),
    DEALLOC_MW(16, Verb.DEALLOC_MW),
    CREATE_COMP_CHANNEL(17, Verb.CREATE_COMP_CHANNEL),
    CREATE_CQ(18, Verb.CREATE_CQ),
    RESIZE_CQ(19, Verb.RESIZE_CQ),
    DESTROY_CQ(20, Verb.DESTROY_CQ),
    REQ_NOTIFY_CQ(23, Verb.REQ_NOTIFY_CQ),
    CREATE_QP(24, Verb.CREATE_QP),
    QUERY_QP(25, Verb.QUERY_QP),
    MODIFY_QP(26, Verb.MODIFY_QP),
    DESTROY_QP(27, Verb.DESTROY_QP),
    /** A doorbell, which comes by write(2). */
    POST_SEND(28, Verb.POST_SEND),
    ATTACH_MCAST(30, Verb.ATTACH_MCAST),
    DETACH_MCAST(31, Verb.DETACH_MCAST),
    CREATE_SRQ(32, Verb.CREATE_SRQ),
    MODIFY_SRQ(33, Verb.MODIFY_SRQ),
    QUERY_SRQ(34, Verb.QUERY_SRQ),
    DESTROY_SRQ(35, Verb.DESTROY_SRQ);

    private static final int LAST = 35;
    private static final @Nullable UverbsCommand[] COMMANDS = commands();

    private final int number;
    private final Verb verb;

    UverbsCommand(int number, Verb verb) {
        this.number = number;
        this.verb = verb;
    }

    private static @Nullable UverbsCommand[] commands() {
        @Nullable UverbsCommand[] commands = new UverbsCommand[LAST + 1];
        for (UverbsCommand each : values()) {
            commands[each.number] = each;
        }
        return commands;
    }

    /** The one with a number; null for one that SoftRoCE does not have. */
    static @Nullable UverbsCommand of(int number) {
        return number >= 0 && number <= LAST ? COMMANDS[number] : null;
    }

    /** Its number in the kernel's interface. */
    int number() {
        return number;
    }

    /** The verb that needs it. */
    Verb verb() {
        return verb;
    }
}
