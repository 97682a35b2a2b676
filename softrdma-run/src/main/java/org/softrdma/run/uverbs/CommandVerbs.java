package org.softrdma.run.uverbs;

import java.util.Map;
import java.util.Optional;
import org.softrdma.fabric.fault.Verb;

/** The verbs behind commands, {@code enum ib_uverbs_write_cmds}. */
final class CommandVerbs {
    private static final Map<Integer, Verb> VERBS = Map.ofEntries(
            Map.entry(0, Verb.OPEN_DEVICE),
            Map.entry(1, Verb.QUERY_DEVICE),
            Map.entry(2, Verb.QUERY_PORT),
            Map.entry(3, Verb.ALLOC_PD),
            Map.entry(4, Verb.DEALLOC_PD),
            Map.entry(5, Verb.CREATE_AH),
            Map.entry(8, Verb.DESTROY_AH),
            Map.entry(9, Verb.REG_MR),
            Map.entry(11, Verb.REREG_MR),
            Map.entry(13, Verb.DEREG_MR),
            Map.entry(14, Verb.ALLOC_MW),
            Map.entry(16, Verb.DEALLOC_MW),
            Map.entry(17, Verb.CREATE_COMP_CHANNEL),
            Map.entry(18, Verb.CREATE_CQ),
            Map.entry(19, Verb.RESIZE_CQ),
            Map.entry(20, Verb.DESTROY_CQ),
            Map.entry(23, Verb.REQ_NOTIFY_CQ),
            Map.entry(24, Verb.CREATE_QP),
            Map.entry(25, Verb.QUERY_QP),
            Map.entry(26, Verb.MODIFY_QP),
            Map.entry(27, Verb.DESTROY_QP),
            Map.entry(28, Verb.POST_SEND),
            Map.entry(32, Verb.CREATE_SRQ),
            Map.entry(33, Verb.MODIFY_SRQ),
            Map.entry(34, Verb.QUERY_SRQ),
            Map.entry(35, Verb.DESTROY_SRQ));

    private CommandVerbs() {}

    /** That of a command, extended or not; nothing for one that no verb needs. */
    static Optional<Verb> of(int command) {
        return Optional.ofNullable(VERBS.get(command));
    }
}
