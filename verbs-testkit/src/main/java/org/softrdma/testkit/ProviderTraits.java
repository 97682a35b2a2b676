package org.softrdma.testkit;

import static org.softrdma.verbs.CompletionStatus.FLUSHED;
import static org.softrdma.verbs.CompletionStatus.GENERAL_ERROR;
import static org.softrdma.verbs.CompletionStatus.LOCAL_ACCESS_ERROR;
import static org.softrdma.verbs.CompletionStatus.LOCAL_LENGTH_ERROR;
import static org.softrdma.verbs.CompletionStatus.LOCAL_PROTECTION_ERROR;
import static org.softrdma.verbs.CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
import static org.softrdma.verbs.CompletionStatus.REMOTE_ACCESS_ERROR;
import static org.softrdma.verbs.CompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
import static org.softrdma.verbs.CompletionStatus.REMOTE_OPERATION_ERROR;
import static org.softrdma.verbs.CompletionStatus.RETRY_EXCEEDED_ERROR;
import static org.softrdma.verbs.CompletionStatus.SUCCESS;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;

/**
 * Lawful differences between providers. Those that the API reports come from the features of a connection, the rest
 * from the name of the device. Statuses are sets: every member is a lawful result.
 *
 * @param traits traits that apply
 * @param readRefused a READ refused by the peer, at the requester
 * @param writeRefused a WRITE refused by the peer, at the requester
 * @param sendRefused a SEND whose RECV is missing or too short, at the requester
 * @param sendFailedAtPeer a SEND whose RECV has a bad buffer, at the requester
 * @param badSource a SEND or WRITE with a bad local entry
 * @param badReadSink a READ with a bad local entry
 * @param receiveTooShort a RECV that was shorter than the SEND
 * @param badReceiveSink a RECV with a bad local entry
 * @param peerGone requests that were outstanding when the peer vanished, besides success
 * @param features results of requests that need a feature
 */
public record ProviderTraits(
        Set<Trait> traits,
        Set<CompletionStatus> readRefused,
        Set<CompletionStatus> writeRefused,
        Set<CompletionStatus> sendRefused,
        Set<CompletionStatus> sendFailedAtPeer,
        Set<CompletionStatus> badSource,
        Set<CompletionStatus> badReadSink,
        Set<CompletionStatus> receiveTooShort,
        Set<CompletionStatus> badReceiveSink,
        Set<CompletionStatus> peerGone,
        FeatureStatuses features) {
    private static final Set<CompletionStatus> SENT_OR_FLUSHED = Set.of(SUCCESS, FLUSHED);
    /** On siw a request that was being sent when the connection ended fails as if by its own fault. */
    private static final Set<CompletionStatus> SENT_OR_BROKEN =
            Set.of(SUCCESS, FLUSHED, LOCAL_QUEUE_PAIR_OPERATION_ERROR);

    /** A lawful difference. */
    public enum Trait {
        /** A SEND waits for its RECV. */
        RECEIVER_NOT_READY,
        /** Success of a WRITE or SEND means that the peer can no longer refuse it. */
        ACKNOWLEDGED_WRITES,
        /** The accepting side may use the connection before the connecting side has. */
        PASSIVE_SIDE_MAY_SEND_FIRST,
        /** An overrun of a completion queue is reported; completions are never dropped silently. */
        REPORTS_QUEUE_OVERRUN,
        /**
         * Requests that were outstanding before the refused one may be flushed: a Terminate is sent at the earliest
         * opportunity and names its request (RFC 5040, sections 6.2.1 and 7.1).
         */
        FLUSHES_BEFORE_THE_CAUSE,
        /** A RECV whose entry is longer than its region may fail although the message fits. */
        CHECKS_WHOLE_RECEIVE_BUFFER,
        /** A queue that is not armed, or armed when its completions are already there, may raise an event. */
        RAISES_SPURIOUS_EVENTS,
        /**
         * A process can make its device stall by holding the device's thread. It cannot if the RNIC is in the kernel or
         * a card.
         */
        CAN_STAND_STILL,
        /**
         * A READ whose source is deregistered while it is answered is not refused, and fails when its retries are used
         * up.
         */
        STOPS_ANSWERING,
        /**
         * Deregistration waits neither for a segment that the device is placing, nor for parts of a region that it has
         * handed to TCP, which are sent with what the memory then holds.
         */
        SENDS_AFTER_DEREGISTRATION,
        /**
         * A peer that connects and leaves, or sends anything but a request, may free the listener and then crash the
         * kernel: the accepting worker drops the listener's reference although the reading one has done so (siw_cm.c,
         * siw_accept_newconn and siw_cm_work_handler).
         */
        LOSES_LISTENER_TO_NONSENSE,
        /**
         * A READ of at most 32 bytes whose source crosses a page border returns wrong bytes (siw_qp_tx.c,
         * siw_try_1seg).
         */
        MIXES_UP_SHORT_READS,
        /**
         * No READ is answered while a SEND or WRITE waits for this side's READs, so two ends that both do this wait for
         * ever (siw_qp_rx.c, siw_init_rresp).
         */
        STANDS_STILL_BEHIND_READS,
        /** Private data arrives with zeros behind it (rdma_get_cm_event(3)). */
        PADS_PRIVATE_DATA,
        /** A key may name another region as soon as its own is gone: ibv_dereg_mr(3) promises nothing about it. */
        REUSES_KEYS_AT_ONCE,
        /** The keys of a region that is gone name none for a long time: until a thousand others are gone, too. */
        KEEPS_KEYS_BACK,
        /** A region is named by other addresses than its memory's own (C: {@code ibv_reg_mr_iova}). */
        VIRTUAL_ADDRESSES,
        /**
         * Invalidating a window that is not bound, as a peer can, follows a null pointer in the kernel: a window of type
         * 2 that is free passes the check and has no queue pair (rxe_mw.c, rxe_check_invalidate_mw and
         * rxe_do_invalidate_mw).
         */
        CRASHES_AT_SECOND_INVALIDATION
    }

    /** Copies. */
    public ProviderTraits {
        traits = Set.copyOf(traits);
    }

    /** The same and more traits. */
    public ProviderTraits with(Set<Trait> more) {
        Set<Trait> all = new HashSet<>(traits);
        all.addAll(more);
        return new ProviderTraits(
                all,
                readRefused,
                writeRefused,
                sendRefused,
                sendFailedAtPeer,
                badSource,
                badReadSink,
                receiveTooShort,
                badReceiveSink,
                peerGone,
                features);
    }

    /** True if it has the trait. */
    public boolean has(Trait trait) {
        return traits.contains(trait);
    }

    /**
     * The traits of a connection.
     *
     * @param provider name of the provider
     * @param device name of the device
     * @param features features of the connection
     */
    public static ProviderTraits of(String provider, String device, Set<Feature> features) {
        EnumSet<Trait> traits = EnumSet.noneOf(Trait.class);
        if (features.contains(Feature.RECEIVER_NOT_READY)) {
            traits.add(Trait.RECEIVER_NOT_READY);
        }
        if (features.contains(Feature.ACKNOWLEDGED_WRITES)) {
            traits.add(Trait.ACKNOWLEDGED_WRITES);
        }
        if (provider.equals("sim")) {
            return softwareRnic(traits, features);
        }
        if (provider.startsWith("rdmacore")) {
            traits.add(Trait.REPORTS_QUEUE_OVERRUN);
        }
        return device.contains("siw") ? siw(traits) : channelAdapter(traits, device.contains("rxe"));
    }

    /** The software RNIC of this project, whose end of one side ends the other. RoCE has what iWARP's SENDs do not. */
    private static ProviderTraits softwareRnic(EnumSet<Trait> traits, Set<Feature> features) {
        boolean statuses = features.contains(Feature.REMOTE_STATUSES);
        boolean readStatuses = statuses || features.contains(Feature.REMOTE_READ_STATUSES);
        traits.add(Trait.PASSIVE_SIDE_MAY_SEND_FIRST);
        traits.add(Trait.REPORTS_QUEUE_OVERRUN);
        traits.add(Trait.CAN_STAND_STILL);
        traits.add(Trait.KEEPS_KEYS_BACK);
        if (!statuses) {
            traits.add(Trait.FLUSHES_BEFORE_THE_CAUSE);
        }
        if (features.contains(Feature.SEND_IMMEDIATE)) {
            traits.add(Trait.PADS_PRIVATE_DATA); // messages of the connection manager have fields of fixed length
        }
        return new ProviderTraits(
                traits,
                Set.of(readStatuses ? REMOTE_ACCESS_ERROR : FLUSHED),
                statuses ? Set.of(REMOTE_ACCESS_ERROR) : SENT_OR_FLUSHED,
                statuses ? Set.of(REMOTE_INVALID_REQUEST_ERROR) : SENT_OR_FLUSHED,
                statuses ? Set.of(REMOTE_OPERATION_ERROR) : SENT_OR_FLUSHED,
                Set.of(LOCAL_PROTECTION_ERROR),
                Set.of(LOCAL_PROTECTION_ERROR),
                Set.of(LOCAL_LENGTH_ERROR),
                Set.of(LOCAL_PROTECTION_ERROR),
                Set.of(FLUSHED),
                FeatureStatuses.iwarp(statuses, readStatuses));
    }

    /** The kernel's siw driver: ten statuses only, completions mean "handed to TCP". */
    private static ProviderTraits siw(EnumSet<Trait> traits) {
        traits.add(Trait.FLUSHES_BEFORE_THE_CAUSE);
        traits.add(Trait.CHECKS_WHOLE_RECEIVE_BUFFER);
        traits.add(Trait.RAISES_SPURIOUS_EVENTS);
        traits.add(Trait.SENDS_AFTER_DEREGISTRATION);
        traits.add(Trait.LOSES_LISTENER_TO_NONSENSE);
        traits.add(Trait.MIXES_UP_SHORT_READS);
        traits.add(Trait.STANDS_STILL_BEHIND_READS);
        return new ProviderTraits(
                traits,
                Set.of(FLUSHED, LOCAL_QUEUE_PAIR_OPERATION_ERROR),
                SENT_OR_BROKEN,
                SENT_OR_BROKEN,
                SENT_OR_BROKEN,
                Set.of(LOCAL_QUEUE_PAIR_OPERATION_ERROR, LOCAL_PROTECTION_ERROR),
                Set.of(LOCAL_PROTECTION_ERROR),
                Set.of(LOCAL_LENGTH_ERROR),
                Set.of(GENERAL_ERROR, LOCAL_PROTECTION_ERROR, LOCAL_ACCESS_ERROR),
                Set.of(FLUSHED, LOCAL_QUEUE_PAIR_OPERATION_ERROR),
                FeatureStatuses.iwarp(false, false));
    }

    /**
     * InfiniBand and RoCE. SoftRoCE maps three errors in its own way (rxe_req.c: an unknown lkey is not EFAULT;
     * rxe_resp.c: copy_data returns EINVAL, not ENOSPC, for a message longer than all entries; rxe_resp.c, read_reply:
     * no NAK is sent when a region is deregistered while a READ of several packets is answered).
     */
    private static ProviderTraits channelAdapter(EnumSet<Trait> traits, boolean rxe) {
        traits.add(Trait.PASSIVE_SIDE_MAY_SEND_FIRST);
        traits.add(Trait.CHECKS_WHOLE_RECEIVE_BUFFER);
        traits.add(Trait.RAISES_SPURIOUS_EVENTS);
        traits.add(Trait.PADS_PRIVATE_DATA);
        if (rxe) {
            traits.add(Trait.STOPS_ANSWERING);
            traits.add(Trait.CRASHES_AT_SECOND_INVALIDATION);
        }
        return new ProviderTraits(
                traits,
                Set.of(REMOTE_ACCESS_ERROR),
                Set.of(REMOTE_ACCESS_ERROR),
                rxe
                        ? Set.of(REMOTE_INVALID_REQUEST_ERROR, REMOTE_OPERATION_ERROR)
                        : Set.of(REMOTE_INVALID_REQUEST_ERROR),
                Set.of(REMOTE_OPERATION_ERROR),
                rxe ? Set.of(LOCAL_PROTECTION_ERROR, LOCAL_QUEUE_PAIR_OPERATION_ERROR) : Set.of(LOCAL_PROTECTION_ERROR),
                Set.of(LOCAL_PROTECTION_ERROR),
                rxe
                        ? Set.of(REMOTE_INVALID_REQUEST_ERROR, LOCAL_QUEUE_PAIR_OPERATION_ERROR)
                        : Set.of(LOCAL_LENGTH_ERROR),
                Set.of(rxe ? LOCAL_QUEUE_PAIR_OPERATION_ERROR : LOCAL_PROTECTION_ERROR),
                Set.of(FLUSHED, RETRY_EXCEEDED_ERROR),
                FeatureStatuses.channelAdapter());
    }
}
