package org.softrdma.run.card;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.softrdma.run.faults.CardFaults;

/**
 * What whoever starts a run wants of its card.
 *
 * @param faults what goes wrong
 * @param capture file for its packets
 * @param counters told the card's counters when it ends; of a card that was never opened there are none
 */
public record CardSettings(CardFaults faults, Optional<Path> capture, Consumer<Map<String, Long>> counters) {
    /** A card without faults, of which nobody wants to know anything. */
    public static CardSettings usual() {
        return new CardSettings(CardFaults.none(), Optional.empty(), counters -> {});
    }
}
