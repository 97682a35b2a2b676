package org.softrdma.run;

import java.util.List;
import java.util.function.Consumer;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.Verb;
import org.softrdma.fabric.fault.VerbError;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.run.faults.CardFaults;
import org.softrdma.sim.roce.wire.PacketKind;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;

/** Plans of runs that a test starts in JVMs of their own, which know them by their names. */
enum PlannedFaults {
    NONE,
    OBJECTS_FAIL,
    WRITE_FAILS,
    PORT_GOES_DOWN,
    PEER_VANISHES,
    NO_RECEIVES,
    NETWORK_LOSES,
    POSTS_FAIL,
    COMPLETIONS_GO,
    LATE,
    CONNECTIONS_FAIL;

    private static final String PLAN = "softrdma.test.faults";
    private static final String SEED = "softrdma.test.seed";

    private FaultPlan plan() {
        return switch (this) {
            case NONE -> FaultPlan.NONE;
            case OBJECTS_FAIL ->
                FaultPlan.NONE
                        .and(new When.OnVerb(Verb.REG_MR, 1), new What.Refuse(VerbError.ENOMEM))
                        .and(new When.OnVerb(Verb.CREATE_QP, 1), new What.Refuse(VerbError.EINVAL));
            case WRITE_FAILS ->
                FaultPlan.NONE.and(
                        new When.OnCompletion(CompletionOpcode.WRITE, 3),
                        new What.Fail(CompletionStatus.REMOTE_ACCESS_ERROR));
            case PORT_GOES_DOWN ->
                FaultPlan.NONE.and(new When.OnVerb(Verb.POST_SEND, 5), new What.PortDown(100_000_000));
            case PEER_VANISHES ->
                FaultPlan.NONE.and(new When.OnVerb(Verb.POST_SEND, 5), new What.PowerOff("127.0.0.1"));
            case NO_RECEIVES ->
                FaultPlan.NONE.and(new When.OnVerb(Verb.POST_SEND, 1), new What.NoReceives(What.FOREVER));
            case NETWORK_LOSES ->
                FaultPlan.NONE
                        .and(packet(PacketKind.SEND, 3), new What.Lose())
                        .and(packet(PacketKind.SEND, 5), new What.Repeat())
                        .and(packet(PacketKind.ACKNOWLEDGEMENT, 1), new What.Delay(1_000_000));
            case COMPLETIONS_GO ->
                FaultPlan.NONE
                        .and(new When.OnCompletion(CompletionOpcode.SEND, 5), new What.Lose())
                        .and(new When.OnCompletion(CompletionOpcode.SEND, 9), new What.Overrun());
            case LATE ->
                FaultPlan.NONE
                        .and(new When.OnCompletion(CompletionOpcode.RECEIVE, 3), new What.Delay(100_000_000))
                        .and(new When.OnVerb(Verb.POST_SEND, 9), new What.NoReceives(100_000_000));
            case CONNECTIONS_FAIL ->
                FaultPlan.NONE
                        .and(new When.OnVerb(Verb.RDMA_LISTEN, 1), new What.Refuse(VerbError.ENOMEM))
                        .and(new When.OnVerb(Verb.RDMA_RESOLVE_ADDR, 1), new What.Refuse(VerbError.ENETUNREACH));
            case POSTS_FAIL ->
                FaultPlan.NONE.and(new Fault(
                        new When.OnVerb(Verb.POST_SEND, When.EACH), new What.Refuse(VerbError.ENOMEM), 100, 1000));
        };
    }

    private static When packet(PacketKind kind, int number) {
        return new When.OnPacket(When.ANY, When.ANY, kind, number);
    }

    /** Options of a JVM whose run has this plan. */
    List<String> with(long seed) {
        return List.of("-D" + PLAN + "=" + name(), "-D" + SEED + "=" + seed);
    }

    /** Those of this JVM. */
    static CardFaults ofThisProcess(Consumer<String> log) {
        PlannedFaults chosen = valueOf(System.getProperty(PLAN, NONE.name()));
        return chosen == NONE
                ? CardFaults.none()
                : CardFaults.of(chosen.plan(), false, Long.getLong(SEED, 1), log, System::nanoTime);
    }
}
