package org.softrdma.sim.foreign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** ibv_modify_qp(3): which state may follow which, and what is set with it. */
class OwnedQueuePairTest {
    private static final Map<OwnedAttribute, Long> NOTHING = Map.of();

    private final OwnedQueuePair pair = new OwnedQueuePair(17);

    private static Map<OwnedAttribute, Long> set(OwnedAttribute... attributes) {
        Map<OwnedAttribute, Long> values = new EnumMap<>(OwnedAttribute.class);
        for (OwnedAttribute attribute : attributes) {
            values.put(attribute, attribute.ordinal() + 1L);
        }
        return values;
    }

    private void toReadyToSend() {
        pair.modify(OwnedState.INIT, set(OwnedAttribute.ACCESS_FLAGS));
        pair.modify(
                OwnedState.RTR,
                set(
                        OwnedAttribute.PATH_MTU,
                        OwnedAttribute.DESTINATION,
                        OwnedAttribute.RECEIVE_PSN,
                        OwnedAttribute.INBOUND_READS,
                        OwnedAttribute.RNR_TIMER));
        pair.modify(
                OwnedState.RTS,
                set(
                        OwnedAttribute.SEND_PSN,
                        OwnedAttribute.OUTBOUND_READS,
                        OwnedAttribute.TIMEOUT,
                        OwnedAttribute.RETRIES,
                        OwnedAttribute.RNR_RETRIES));
    }

    @Test
    void shouldHaveTheStatesAndAttributesThatItsOwnerSets() {
        assertEquals(OwnedState.RESET, pair.state());
        toReadyToSend();
        assertEquals(set(OwnedAttribute.values()), pair.attributes());
        pair.modify(OwnedState.SQD, NOTHING);
        pair.modify(OwnedState.SQD, Map.of(OwnedAttribute.TIMEOUT, 99L));
        pair.modify(OwnedState.RTS, NOTHING);
        assertEquals(99L, pair.attributes().get(OwnedAttribute.TIMEOUT));
        pair.modify(OwnedState.ERR, NOTHING);
        pair.modify(OwnedState.RESET, NOTHING);
        assertEquals(NOTHING, pair.attributes());
        toReadyToSend();
        assertEquals(OwnedState.RTS, pair.state());
    }

    @Test
    void shouldRefuseAStateThatCannotFollow() {
        for (OwnedState next : List.of(OwnedState.RTR, OwnedState.RTS, OwnedState.SQD, OwnedState.SQE)) {
            assertThrows(IllegalStateException.class, () -> pair.modify(next, NOTHING));
        }
        toReadyToSend();
        for (OwnedState next : List.of(OwnedState.INIT, OwnedState.RTR, OwnedState.SQE)) {
            assertThrows(IllegalStateException.class, () -> pair.modify(next, NOTHING));
        }
        assertEquals(OwnedState.RTS, pair.state());
    }

    @Test
    void shouldChangeNothingIfAnAttributeIsMissingOrCannotBeSet() {
        pair.modify(OwnedState.INIT, set(OwnedAttribute.ACCESS_FLAGS));
        IllegalArgumentException missing = assertThrows(
                IllegalArgumentException.class,
                () -> pair.modify(
                        OwnedState.RTR,
                        set(
                                OwnedAttribute.PATH_MTU,
                                OwnedAttribute.DESTINATION,
                                OwnedAttribute.INBOUND_READS,
                                OwnedAttribute.RNR_TIMER,
                                OwnedAttribute.SEND_PSN)));
        assertTrue(
                String.valueOf(missing.getMessage()).contains("missing IBV_QP_RQ_PSN, not to be set IBV_QP_SQ_PSN"),
                missing::getMessage);
        assertEquals(OwnedState.INIT, pair.state());
        assertEquals(set(OwnedAttribute.ACCESS_FLAGS), pair.attributes());
    }
}
