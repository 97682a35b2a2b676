package org.softrdma.farm.store;

import java.util.Map;
import org.softrdma.farm.memory.ObjectLines;
import org.softrdma.farm.memory.SizeClasses;
import org.softrdma.farm.table.FarmPairDescriptor;
import org.softrdma.farm.table.TableShape;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreOptions;
import org.softrdma.stores.StoreServerContext;

/**
 * What a server is made of, from its options. Immutable.
 *
 * @param shape of the table
 * @param regionLength bytes of each region
 * @param blockLength bytes of a block
 */
record FarmSettings(TableShape shape, long regionLength, int blockLength) {
    static final Map<String, String> OPTIONS = Map.of(
            "neighbourhood", "H of the paper, even: a key is in one of two buckets of H/2 slots, or in a chain; 6",
            "values",
                    "inline or outline: inline has pairs in the table, keys and values all as long as the longest;"
                            + " outline",
            "buckets", "buckets of all shards; as many as half of the memory has room for",
            "regions", "regions, each with a shard of the table; 1",
            "region", "bytes of a region; 67108864",
            "block", "bytes of a block of objects of one size; 1048576");

    private static final int USUAL_NEIGHBOURHOOD = 6;
    private static final long USUAL_REGION = 64 << 20;
    private static final long LARGEST_REGION = 1L << 31;
    private static final int SMALLEST_REGION = 1 << 12;

    private enum Values {
        INLINE,
        OUTLINE
    }

    static FarmSettings of(StoreServerContext context, boolean linesAreMovedWhole) {
        StoreOptions options = new StoreOptions(context.options(), OPTIONS);
        long region = options.number("region", USUAL_REGION, SMALLEST_REGION, LARGEST_REGION);
        int regions = (int) options.number("regions", 1, 1, FarmWelcomeDescriptor.MOST_SHARDS);
        boolean inline = options.choice("values", Values.OUTLINE) == Values.INLINE;
        TableShape shape = new TableShape(
                (int) options.number("neighbourhood", USUAL_NEIGHBOURHOOD, 2, 16),
                inline,
                inline ? context.maxKeyLength() : 0,
                inline ? context.maxValueLength() : 0,
                context.protocol() == Protocol.SAFE && !linesAreMovedWhole,
                1,
                regions,
                context.random().nextLong());
        long most = region / shape.stride() - 1;
        long buckets = options.number("buckets", Math.max(1, most / 2) * regions, regions, most * regions);
        FarmSettings settings = new FarmSettings(
                new TableShape(
                        shape.neighbourhood(),
                        inline,
                        shape.keyLength(),
                        shape.valueLength(),
                        shape.checksums(),
                        (int) ((buckets + regions - 1) / regions),
                        regions,
                        shape.seed()),
                region,
                (int) options.number("block", Math.min(SizeClasses.LARGEST, region / 16), 256, region)
                        & -ObjectLines.LINE);
        settings.checkPairs(context);
        return settings;
    }

    private void checkPairs(StoreServerContext context) {
        int longest = shape.inline()
                ? shape.block().length()
                : FarmPairDescriptor.length(context.maxKeyLength(), context.maxValueLength());
        int most = Math.min(SizeClasses.LARGEST, blockLength);
        if (shape.lengthInMemory(longest) > most) {
            throw new IllegalArgumentException("maxKeyLength=" + context.maxKeyLength() + ", maxValueLength="
                    + context.maxValueLength() + ": an object of " + shape.lengthInMemory(longest) + " bytes > " + most
                    + ", the largest (block=" + blockLength + ")");
        }
    }
}
