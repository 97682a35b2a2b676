package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.server.KvServerContext;

class ExtendedOptionsTest {
    @Test
    void shouldSetWhatTheWordsSayInTheirOrder() {
        KvServerContext context = new KvServerContext();
        ExtendedOptions.apply(List.of("no_modern", "lru_crawler", "idle_timeout=3", "relaxed_privileges"), context);
        assertEquals(3, context.timeouts().idleTimeoutSeconds());
        assertTrue(context.items().crawling());
        assertTrue(!context.items().tailsReclaimed());
    }

    @Test
    void shouldTakeAChunkSizeThatCutsNoItem() {
        ExtendedOptions.apply(List.of("slab_chunk_max=1m"), new KvServerContext());
        ExtendedOptions.apply(
                List.of("slab_chunk_max=1024"), new KvServerContext().items(items -> items.maxItemLength(1024)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"bogus", "", "idle_timeout=soon", "idle_timeout", "slab_chunk_max=16384", "slab_chunk_max=x"})
    void shouldNameAWordThatItCannotHeed(String word) {
        IllegalArgumentException failure = assertThrows(
                IllegalArgumentException.class,
                () -> ExtendedOptions.apply(List.of("modern", word), new KvServerContext()));
        assertTrue(String.valueOf(failure.getMessage()).startsWith("-o " + word + ": expected"), failure.getMessage());
    }

    @Test
    void shouldReadSizesAsMemcachedDoes() {
        assertEquals(1000, ExtendedOptions.size("-I 1000", "1000"));
        assertEquals(512 << 10, ExtendedOptions.size("-I 512k", "512k"));
        assertEquals(2 << 20, ExtendedOptions.size("-I 2M", "2M"));
        assertThrows(IllegalArgumentException.class, () -> ExtendedOptions.size("-I 4096m", "4096m"));
        assertThrows(IllegalArgumentException.class, () -> ExtendedOptions.size("-I m", "m"));
    }
}
