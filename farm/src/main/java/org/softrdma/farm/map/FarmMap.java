package org.softrdma.farm.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.FarmException;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.TransactionOutcome;
import org.softrdma.farm.table.TableKey;
import org.softrdma.farm.table.TableShape;
import org.softrdma.farm.table.TableShard;
import org.softrdma.farm.transaction.ShippedFunction;
import org.softrdma.stores.Outcome;

/**
 * A hash table over the machines of an address space (section 3.6 of the paper), linearizable: keys and values of one
 * length each, in shards, each of them a block of some region with what its pairs need beside it.
 *
 * <p>A lookup READs the bucket of a key and the one behind it by one READ, and if need be the chain, a READ each. A change
 * is a function that is shipped to the primary of the shard, so changes of one key that come at the same time are one
 * transaction. Any thread but the node's own, which has {@link #polled}; several may use one map.
 */
public final class FarmMap {
    /** What every machine of the cluster must have among its functions. */
    public static final Map<Integer, ShippedFunction> FUNCTIONS = MapFunctions.ALL;

    private static final int ATTEMPTS = 1000;
    /** Bytes of a message besides its objects, and besides each object. */
    private static final int MESSAGE_ROOM = 512;

    private static final int OBJECT_ROOM = 48;

    private final FarmNode node;
    private final TableShape shape;
    private final long address;
    private final long[] buckets;
    private final int stride;
    private final int probes;

    private FarmMap(FarmNode node, TableShape shape, long address, long[] buckets) {
        this.node = node;
        this.shape = shape;
        this.address = address;
        this.buckets = buckets;
        int bucketLength = shape.bucket().length();
        stride = node.shape().stride(bucketLength);
        probes = Math.min(TableShard.PROBE_LIMIT, objectsOfAMessage(node, bucketLength));
    }

    private static int objectsOfAMessage(FarmNode node, int length) {
        return Math.max(1, (node.longestMessage() - MESSAGE_ROOM) / (length + OBJECT_ROOM));
    }

    /**
     * Makes a map: its shards are in the regions that there are, by turns.
     *
     * @param node of this machine
     * @param shape of it: pairs are inline, checksums as in the address space, and the buckets of a shard fit in a block
     * @throws FarmException if there is no room, or an epoch begins meanwhile: what was made by then is not given back
     */
    public static FarmMap create(FarmNode node, TableShape shape) {
        if (!shape.inline() || shape.checksums() != node.shape().checksums()) {
            throw new IllegalArgumentException(
                    "expected pairs inline, checksums=" + node.shape().checksums() + ", and not " + shape);
        }
        FarmConfiguration configuration = node.configuration();
        List<Integer> regions = configuration.regions().entrySet().stream()
                .filter(entry -> !entry.getValue().isLost())
                .map(Map.Entry::getKey)
                .toList();
        if (regions.isEmpty()) {
            throw new FarmException("no machine has a region");
        }
        long[] buckets = new long[shape.shards()];
        for (int shard = 0; shard < buckets.length; shard++) {
            buckets[shard] = createShard(node, shape, regions.get(shard % regions.size()), configuration.epoch());
        }
        TransactionOutcome<Long> written = node.transact(ATTEMPTS, transaction -> {
            long made = transaction.allocate(MapDescriptor.length(buckets.length), FarmAddress.NONE);
            MapDescriptor.put(transaction.write(made), shape, buckets);
            return made;
        });
        return new FarmMap(node, shape, value(written), buckets);
    }

    private static long createShard(FarmNode node, TableShape shape, int region, int epoch) {
        long first = value(
                node.ship(ATTEMPTS, FarmAddress.of(region, 0), MapFunctions.RESERVE, MapCallDescriptor.reserve(shape)));
        if (first == FarmAddress.NONE) {
            throw new FarmException(FarmAddress.regionText(region) + " has no free block for " + (shape.homes() + 1)
                    + " buckets of " + shape.bucket().length() + " bytes: have fewer homes, or more regions");
        }
        int most = objectsOfAMessage(node, shape.bucket().length());
        for (int from = 0; from <= shape.homes(); from += most) {
            byte[] call = MapCallDescriptor.create(shape, from, Math.min(most, shape.homes() + 1 - from), epoch);
            long ignored = value(node.ship(ATTEMPTS, first, MapFunctions.CREATE, call)); // DONE, or it throws
        }
        return first;
    }

    private static long value(TransactionOutcome<Long> outcome) {
        if (outcome instanceof TransactionOutcome.Committed<Long>(Long value)) {
            return Objects.requireNonNull(value);
        }
        throw new FarmException("the map was not made: " + outcome);
    }

    /**
     * A map that somebody has made.
     *
     * @param node of this machine
     * @param address that {@link #address} says there
     * @param shards how many it has
     * @throws FarmException if there is none, or one of another number of shards
     * @throws IllegalArgumentException if something else is there
     */
    public static FarmMap open(FarmNode node, long address, int shards) {
        if (shards < 1) {
            throw new IllegalArgumentException("shards=" + shards + ": expected at least 1");
        }
        ObjectImage image = node.read(address, MapDescriptor.length(shards));
        TableShape shape = MapDescriptor.shape(image, node.shape().checksums());
        if (shape.shards() != shards) {
            throw new FarmException("the map at " + Long.toHexString(address) + " has " + shape.shards()
                    + " shards, and not " + shards);
        }
        return new FarmMap(node, shape, address, MapDescriptor.buckets(image));
    }

    /** Where it is, for {@link #open} on other machines. */
    public long address() {
        return address;
    }

    private TableKey key(byte[] bytes) {
        TableKey key = new TableKey(shape);
        set(key, bytes);
        return key;
    }

    private void set(TableKey key, byte[] bytes) {
        if (bytes.length != shape.keyLength()) {
            throw new IllegalArgumentException(
                    "a key of " + bytes.length + " bytes: this map has keys of " + shape.keyLength());
        }
        key.set(MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    private long firstBucket(TableKey key) {
        return buckets[shape.shard(key.hash())];
    }

    /** Lookups in this map. */
    MapLookup lookup() {
        return new MapLookup(shape, stride);
    }

    /** Begins to look a key up. */
    void begin(MapLookup lookup, byte[] bytes) {
        TableKey key = lookup.key();
        set(key, bytes);
        lookup.begin(firstBucket(key) + (long) shape.home(key.hash()) * stride);
    }

    /**
     * Looks a key up.
     *
     * @param bytes the key
     * @return its value, or null if there is none
     * @throws FarmException if its region is lost, or this machine is no member any more
     */
    public byte @Nullable [] get(byte[] bytes) {
        MapLookup lookup = lookup();
        ObjectImage image = new ObjectImage();
        for (begin(lookup, bytes); !lookup.isOver(); ) {
            if (lookup.isAtBuckets()) {
                node.read(lookup.address(), lookup.length(), lookup);
                lookup.onBuckets();
            } else if (node.read(new FatPointer(lookup.address(), lookup.length(), lookup.incarnation()), image)) {
                lookup.onBlock(image);
            } else {
                lookup.onGone();
            }
        }
        return lookup.isFound()
                ? lookup.foundIn()
                        .segment()
                        .asSlice(lookup.valueOffset(), shape.valueLength())
                        .toArray(ValueLayout.JAVA_BYTE)
                : null;
    }

    /**
     * Lookups for an application that runs on the node's thread, and so must not wait.
     *
     * @param window how many may be under way
     */
    public PolledMap polled(int window) {
        return new PolledMap(node, this, window);
    }

    /**
     * Stores a pair.
     *
     * @param key of it
     * @param value of it
     * @return STORED; FULL if there is no room; GAVE_UP if others had it locked all the time; LOST if nobody knows
     * @throws FarmException if its region is lost, or this machine is no member any more
     */
    public Outcome put(byte[] key, byte[] value) {
        TableKey hashed = key(key);
        if (value.length != shape.valueLength()) {
            throw new IllegalArgumentException(
                    "a value of " + value.length + " bytes: this map has values of " + shape.valueLength());
        }
        return change(hashed, MapFunctions.PUT, MapCallDescriptor.put(shape, probes, key, value), Outcome.STORED);
    }

    /**
     * Removes a pair.
     *
     * @param key of it
     * @return REMOVED; MISSING if there is none; GAVE_UP if others had it locked all the time; LOST if nobody knows
     * @throws FarmException if its region is lost, or this machine is no member any more
     */
    public Outcome remove(byte[] key) {
        return change(key(key), MapFunctions.REMOVE, MapCallDescriptor.remove(shape, key), Outcome.REMOVED);
    }

    private Outcome change(TableKey key, int function, byte[] call, Outcome done) {
        return switch (node.ship(ATTEMPTS, firstBucket(key), function, call)) {
            case TransactionOutcome.Committed<Long>(Long value) -> {
                long result = Objects.requireNonNull(value);
                yield result == MapFunctions.DONE ? done : result == MapFunctions.FULL ? Outcome.FULL : Outcome.MISSING;
            }
            case TransactionOutcome.Aborted<Long> _ -> Outcome.GAVE_UP;
            case TransactionOutcome.Unknown<Long> _ -> Outcome.LOST;
        };
    }
}
