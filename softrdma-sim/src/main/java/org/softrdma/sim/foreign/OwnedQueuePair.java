package org.softrdma.sim.foreign;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A queue pair of a reliable connection whose owner sets its attributes and states, as {@code ibv_modify_qp(3)} does.
 * The peer is whatever the owner names; nobody connects.
 *
 * <p>Not thread-safe.
 */
public final class OwnedQueuePair {
    private final int number;
    private final Map<OwnedAttribute, Long> attributes = new EnumMap<>(OwnedAttribute.class);
    private OwnedState state = OwnedState.RESET;

    /**
     * One in RESET.
     *
     * @param number of the queue pair
     */
    public OwnedQueuePair(int number) {
        this.number = number;
    }

    /** Its number. */
    public int number() {
        return number;
    }

    /** Its state. */
    public OwnedState state() {
        return state;
    }

    /** What was set since RESET. */
    public Map<OwnedAttribute, Long> attributes() {
        return Map.copyOf(attributes);
    }

    /**
     * Sets a state, and attributes with it; or refuses both.
     *
     * @param next the state
     * @param set the attributes
     * @throws IllegalStateException if that state cannot follow
     * @throws IllegalArgumentException if an attribute is missing, or cannot be set then
     */
    public void modify(OwnedState next, Map<OwnedAttribute, Long> set) {
        if (!state.allows(next)) {
            throw new IllegalStateException("queue pair " + number + ": " + next + " cannot follow " + state);
        }
        Set<OwnedAttribute> required = required(next);
        Set<OwnedAttribute> missing = EnumSet.copyOf(required);
        missing.removeAll(set.keySet());
        Set<OwnedAttribute> refused = EnumSet.noneOf(OwnedAttribute.class);
        refused.addAll(set.keySet());
        refused.removeAll(required);
        refused.removeAll(optional(next));
        if (!missing.isEmpty() || !refused.isEmpty()) {
            throw new IllegalArgumentException("queue pair " + number + ", from " + state + " to " + next + ": missing "
                    + names(missing) + ", not to be set " + names(refused));
        }
        if (next == OwnedState.RESET) {
            attributes.clear();
        }
        attributes.putAll(set);
        state = next;
    }

    private Set<OwnedAttribute> required(OwnedState next) {
        if (state == OwnedState.RESET && next == OwnedState.INIT) {
            return EnumSet.of(OwnedAttribute.ACCESS_FLAGS);
        }
        if (next == OwnedState.RTR) {
            return EnumSet.of(
                    OwnedAttribute.PATH_MTU,
                    OwnedAttribute.DESTINATION,
                    OwnedAttribute.RECEIVE_PSN,
                    OwnedAttribute.INBOUND_READS,
                    OwnedAttribute.RNR_TIMER);
        }
        if (state == OwnedState.RTR && next == OwnedState.RTS) {
            return EnumSet.of(
                    OwnedAttribute.SEND_PSN,
                    OwnedAttribute.OUTBOUND_READS,
                    OwnedAttribute.TIMEOUT,
                    OwnedAttribute.RETRIES,
                    OwnedAttribute.RNR_RETRIES);
        }
        return EnumSet.noneOf(OwnedAttribute.class);
    }

    private Set<OwnedAttribute> optional(OwnedState next) {
        return switch (next) {
            case RESET, ERR, SQE -> EnumSet.noneOf(OwnedAttribute.class);
            case INIT, RTR -> EnumSet.of(OwnedAttribute.ACCESS_FLAGS);
            case RTS -> EnumSet.of(OwnedAttribute.ACCESS_FLAGS, OwnedAttribute.RNR_TIMER);
            case SQD ->
                state == OwnedState.SQD
                        ? EnumSet.of(
                                OwnedAttribute.ACCESS_FLAGS,
                                OwnedAttribute.RNR_TIMER,
                                OwnedAttribute.INBOUND_READS,
                                OwnedAttribute.OUTBOUND_READS,
                                OwnedAttribute.TIMEOUT,
                                OwnedAttribute.RETRIES,
                                OwnedAttribute.RNR_RETRIES)
                        : EnumSet.noneOf(OwnedAttribute.class);
        };
    }

    private static String names(Set<OwnedAttribute> attributes) {
        return attributes.isEmpty()
                ? "nothing"
                : attributes.stream().map(OwnedAttribute::mask).collect(Collectors.joining(" "));
    }

    @Override
    public String toString() {
        return "OwnedQueuePair[" + number + " " + state + "]";
    }
}
