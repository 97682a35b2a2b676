package org.softrdma.stores.nessie.worker;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;
import org.softrdma.stores.nessie.worker.NessieOperation.Found;
import org.softrdma.stores.nessie.worker.NessieOperation.Phase;

/**
 * What the machines of all operations share: connections, buffers, cache, stock, and time. Owned by the worker's
 * thread.
 */
final class NessieWork {
    private static final long LEAST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(5);
    private static final long MOST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);

    final NessieBuffers buffers;
    final StoreCounters counters;
    final NessieCache cache;
    final NessieStock stock;
    final boolean safe;

    private final NessieClientSettings settings;
    private final NanoClock clock;
    private final RandomGenerator random;
    private @Nullable NessieLinks links;

    NessieWork(
            NessieBuffers buffers,
            StoreCounters counters,
            NessieClientSettings settings,
            NanoClock clock,
            RandomGenerator random) {
        this.buffers = buffers;
        this.counters = counters;
        this.settings = settings;
        this.clock = clock;
        this.random = random;
        safe = settings.safe();
        cache = new NessieCache(settings.cache(), buffers.data().length());
        stock = new NessieStock(settings.stock());
    }

    void connected(@Nullable NessieLinks newLinks) {
        links = newLinks;
    }

    /** The connections, of which a machine that runs may be sure. */
    NessieLinks links() {
        NessieLinks now = links;
        if (now == null) {
            throw new IllegalStateException("operation resumed while disconnected");
        }
        return now;
    }

    /** The operation goes on with a step when what it has posted has completed. */
    void await(NessieOperation operation, NessieStep step) {
        operation.phase = Phase.BATCH;
        operation.step = step;
        counters.increment(StoreCounter.ROUND_TRIPS);
    }

    /** The operation ends, once it has told nodes which entries nobody uses any more. */
    @Nullable
    Outcome end(NessieOperation operation, Outcome outcome) {
        if (operation.removedCount == 0) {
            return outcome;
        }
        operation.ending = outcome;
        links().notice(operation);
        await(operation, NessieStep.NOTICE);
        return null;
    }

    /** Takes a free entry for what the operation puts; false if it has to wait for one. */
    boolean takeEntry(NessieOperation operation) {
        operation.ownReference = stock.take();
        if (operation.ownReference == 0) {
            operation.phase = Phase.STOCK;
            return false;
        }
        return true;
    }

    /** Writes the pair of a PUT into the entry that it has taken, as pending. */
    void writeOwn(NessieOperation operation) {
        int image = buffers.imageAt(operation.index);
        buffers.data()
                .seal(
                        buffers.segment(),
                        buffers.view(),
                        image,
                        operation.keyLength,
                        operation.valueLength,
                        operation.ownReference);
        links().writeEntry(operation, image, operation.ownReference);
    }

    /** The word that names the entry of a PUT, behind the word that is there. */
    long ownWord(NessieOperation operation, long last) {
        return links().ownWord(last, operation.ownReference, operation.hash);
    }

    // ---- time

    /** The operation begins its search again after a while. */
    void pause(NessieOperation operation) {
        counters.increment(StoreCounter.CONFLICTS);
        operation.pauseNs = Math.clamp(2 * operation.pauseNs, LEAST_PAUSE_NS, MOST_PAUSE_NS);
        operation.wakeNs = clock.nanoTime() + 1 + random.nextLong(operation.pauseNs);
        operation.phase = Phase.PAUSED;
    }

    /** A word names a pending entry: true if the operation has seen it for so long that it should finish the work. */
    boolean mustHelp(NessieOperation operation, long word) {
        if (operation.waitedWord != word) {
            operation.waitedWord = word;
            operation.waitedSinceNs = clock.nanoTime();
            operation.pauseNs = 0;
        }
        return safe && clock.nanoTime() - operation.waitedSinceNs >= settings.patienceNs();
    }

    int random(int bound) {
        return random.nextInt(bound);
    }

    // ---- entries

    /** Under what the cache keeps the entry of a word. As published, names are used again, and words are less so. */
    long cached(long word) {
        return safe ? NessieWordDescriptor.name(word) : word;
    }

    /** What a word is to the operation, as far as the word itself tells. */
    Found judge(NessieOperation operation, long word) {
        if (NessieWordDescriptor.isEmpty(word)) {
            return Found.EMPTY;
        }
        if (!NessieWordDescriptor.passes(word, operation.hash, links().shape().filterBits())) {
            counters.increment(StoreCounter.FILTER_SKIPS);
            return Found.OTHER;
        }
        return links().isKnown(word) ? Found.UNKNOWN : Found.DANGLING;
    }

    /** True if the entry that has landed is what a word of this reference means. */
    boolean isWhole(NessieOperation operation, long word) {
        MemorySegment memory = buffers.segment();
        int landing = buffers.landingAt(operation.index);
        return safe
                ? buffers.data().isWhole(memory, buffers.view(), landing, NessieWordDescriptor.reference(word))
                : buffers.data().fits(memory, landing);
    }

    /** True if an entry is of the operation's key. */
    boolean isOf(NessieOperation operation, MemorySegment memory, long entry) {
        return NessieDataDescriptor.isOf(
                memory, entry, buffers.segment(), buffers.keyAt(operation.index), operation.keyLength);
    }

    /** What a word is to the operation, by the entry that has landed and is whole. */
    Found judgeLanding(NessieOperation operation, long word) {
        MemorySegment memory = buffers.segment();
        int landing = buffers.landingAt(operation.index);
        int state = NessieDataDescriptor.state(buffers.data().tail(memory, landing));
        if (state == NessieDataDescriptor.VALID) {
            cache.add(cached(word), memory, landing);
        }
        if (!isOf(operation, memory, landing)) {
            return Found.OTHER;
        }
        return switch (state) {
            case NessieDataDescriptor.PENDING -> Found.PENDING;
            case NessieDataDescriptor.VALID -> Found.VALID;
            default -> Found.DANGLING;
        };
    }
}
