package org.softrdma.run.uverbs;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.softrdma.run.card.Card;
import org.softrdma.run.card.CardAddress;
import org.softrdma.run.card.CardPair;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.sim.roce.wire.Gid;

/** Address handles that requests of a queue pair name: by a number, or, with older drivers, each as a whole. */
final class AddressHandles implements CardPair.Destinations {
    /** More hosts than a program of those days talks to. */
    private static final int MOST_REMEMBERED = 1024;

    private final Card card;
    private final RxeDevice device;
    private final VerbsContext context;
    private final VerbsObject.Domain domain;
    private final Map<Whole, CardAddress> remembered = new HashMap<>();

    /**
     * Of a queue pair.
     *
     * @param context with its handles
     * @param domain of it
     */
    AddressHandles(Card card, RxeDevice device, VerbsContext context, VerbsObject.Domain domain) {
        this.card = card;
        this.device = device;
        this.context = context;
        this.domain = domain;
    }

    private record Whole(Gid there, int ownGid) {}

    /**
     * Makes one.
     *
     * @param there the host that it leads to
     * @param ownGid index in the table
     */
    static CardAddress create(Card card, RxeDevice device, VerbsObject.Domain domain, Gid there, int ownGid)
            throws CallRefusedException {
        if (ownGid >= device.gids().size()) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        InetAddress local = device.gids().get(ownGid).address();
        return card.createAddress(domain.card(), local, there.address());
    }

    @Override
    public CardAddress numbered(int handle) throws CallRefusedException {
        return context.get(handle, VerbsObject.Address.class).card();
    }

    @Override
    public CardAddress of(Gid there, int ownGid) throws CallRefusedException {
        Whole whole = new Whole(there, ownGid);
        CardAddress known = remembered.get(whole);
        if (known == null) {
            if (remembered.size() == MOST_REMEMBERED) {
                close();
            }
            known = create(card, device, domain, there, ownGid);
            remembered.put(whole, known);
        }
        return known;
    }

    @Override
    public void close() {
        remembered.values().forEach(CardAddress::close);
        remembered.clear();
    }
}
