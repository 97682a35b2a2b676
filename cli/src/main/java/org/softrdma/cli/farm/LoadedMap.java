package org.softrdma.cli.farm;

import java.nio.ByteBuffer;
import java.util.Map;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.farm.map.FarmMap;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.table.FarmBucketDescriptor;
import org.softrdma.farm.table.TableShape;
import org.softrdma.stores.Outcome;

/**
 * A hash table on a cluster, whose keys are numbers.
 *
 * @param address where it is
 * @param shards how many it has
 * @param pairs that it is made for
 * @param keyBytes length of a key, of which the first four bytes are the number
 */
record LoadedMap(long address, int shards, int pairs, int keyBytes) {
    private static final int NEIGHBOURHOOD = 6;
    private static final double FILL = 0.8;
    private static final int HEX = 16;

    /**
     * Makes one without pairs.
     *
     * @param node of this machine
     * @param pairs that it is to have
     * @param keyBytes length of a key
     * @param valueBytes length of a value
     */
    static LoadedMap create(FarmNode node, int pairs, int keyBytes, int valueBytes) {
        boolean checksums = node.shape().checksums();
        TableShape one = shape(keyBytes, valueBytes, checksums, 1, 1);
        FarmBucketDescriptor bucket = one.bucket();
        int homes = node.shape().blockLength() / node.shape().stride(bucket.length()) - 1;
        if (homes < 1) {
            throw new MeasurementException("a block of " + node.shape().blockLength()
                    + " bytes has no room for two buckets: have longer regions");
        }
        int shards = (int) Math.ceil(pairs / (FILL * homes * NEIGHBOURHOOD / 2));
        FarmMap made = FarmMap.create(node, shape(keyBytes, valueBytes, checksums, homes, shards));
        return new LoadedMap(made.address(), shards, pairs, keyBytes);
    }

    private static TableShape shape(int keyBytes, int valueBytes, boolean checksums, int homes, int shards) {
        return new TableShape(NEIGHBOURHOOD, true, keyBytes, valueBytes, checksums, homes, shards, 1);
    }

    static LoadedMap of(Map<String, String> values) {
        return new LoadedMap(
                Long.parseUnsignedLong(value(values, "map"), HEX),
                Integer.parseInt(value(values, "shards")),
                Integer.parseInt(value(values, "pairs")),
                Integer.parseInt(value(values, "key")));
    }

    private static String value(Map<String, String> values, String name) {
        String value = values.get(name);
        if (value == null) {
            throw new MeasurementException("ZooKeeper says " + values + " of what was loaded: expected " + name
                    + "; another version has loaded it");
        }
        return value;
    }

    Map<String, String> values() {
        return Map.of(
                "map", Long.toHexString(address),
                "shards", String.valueOf(shards),
                "pairs", String.valueOf(pairs),
                "key", String.valueOf(keyBytes));
    }

    FarmMap open(FarmNode node) {
        return FarmMap.open(node, address, shards);
    }

    /** The key of a number. */
    byte[] key(int number) {
        return ByteBuffer.allocate(keyBytes).putInt(number).array();
    }

    /** Stores a pair, or says why not. */
    static void put(FarmMap map, byte[] key, byte[] value) {
        Outcome outcome = map.put(key, value);
        if (outcome != Outcome.STORED) {
            throw new MeasurementException("a pair was not stored: " + outcome
                    + (outcome == Outcome.FULL ? "; more or longer regions have more room" : ""));
        }
    }
}
