package org.softrdma.kv.client;

import org.agrona.collections.Long2LongCounterMap;
import org.softrdma.kv.client.place.ArenaTable;
import org.softrdma.kv.client.place.KnownItems;
import org.softrdma.kv.client.place.LocatorCache;
import org.softrdma.kv.client.place.Registration;
import org.softrdma.kv.item.KeyHash;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.memcached.TextProtocol;

/**
 * Where items are, as far as a connection may rely on it: what is known of the server's items, which keys are being
 * written meanwhile, and what its locators mean. Owned by the thread of its client.
 */
final class ItemPlaces {
    /** In place of a hash, which never is this. */
    static final long ALL_KEYS = 0;

    private static final byte[] ARENAS = TextProtocol.line("rdma arenas");

    private final MemcachedLink link;
    private final Dialogue dialogue;
    private final KnownItems known;
    private final Long2LongCounterMap writes = new Long2LongCounterMap(0);
    private Registration registration = new ArenaTable();
    private boolean loading;

    /**
     * Nothing is being written.
     *
     * @param link where the server is asked what its locators mean
     * @param dialogue that has the answers
     * @param known of the server
     */
    ItemPlaces(MemcachedLink link, Dialogue dialogue, KnownItems known) {
        this.link = link;
        this.dialogue = dialogue;
        this.known = known;
    }

    long hash(byte[] key) {
        return KeyHash.hash(key, known.hashSeed());
    }

    /** Locators by hash. */
    LocatorCache locators() {
        return known.locators();
    }

    /** A request that changes a value is on its way, or one that changes all: {@link #ALL_KEYS}. */
    void beginWrite(long hash) {
        writes.incrementAndGet(hash);
    }

    /** It was answered. */
    void endWrite(long hash) {
        writes.decrementAndGet(hash);
    }

    /** True if such a request is on its way: what is known of the place may be out of date behind it. */
    boolean isBeingWritten(long hash) {
        return writes.get(hash) != 0 || writes.get(ALL_KEYS) != 0;
    }

    /** The place of a key, or of {@link #ALL_KEYS}, is not known any more. */
    void forget(long hash) {
        if (hash == ALL_KEYS) {
            known.locators().clear();
        } else {
            known.locators().remove(hash);
        }
    }

    /** Remembers where a stored value is. */
    void learn(long hash, String hex) {
        Locator locator;
        try {
            locator = Locator.ofHex(hex);
        } catch (IllegalArgumentException e) {
            throw new KvException(link.name() + " answered with a bad locator: " + hex, e);
        }
        learnArena(locator.rkey());
        if (!isBeingWritten(hash)) {
            known.locators().put(hash, locator.first(), locator.second());
        }
    }

    /** What locators mean. */
    Registration registration() {
        return registration;
    }

    /** The server has said how it registers items: asks for the rest. */
    void registration(Registration named) {
        registration = named;
        load();
    }

    /** True while the answer is on its way. */
    boolean isLoading() {
        return loading;
    }

    /** Asks the server about its arenas if it named one that is not known; until then its items count as unknown. */
    void learnArena(int rkey) {
        if (!registration.knows(rkey) && !loading) {
            load();
        }
    }

    private void load() {
        loading = true;
        link.write(ARENAS);
        dialogue.expect(new Exchange(null) {
            @Override
            Next line(String line) {
                if (line.equals("END")) {
                    loading = false;
                    return Next.NOTHING;
                }
                parseArena(line);
                return Next.LINE;
            }
        });
    }

    private void parseArena(String line) {
        boolean known;
        try {
            known = registration.add(line.split(" ", -1));
        } catch (NumberFormatException e) {
            known = false;
        }
        if (!known) {
            throw dialogue.unexpected(line, "rdma arenas");
        }
    }
}
