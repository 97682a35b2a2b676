package org.softrdma.kv.memcached;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextDecoderTest {
    private static final String KEY_250 = "k".repeat(250);

    /** What a stream of bytes means, one line per event. */
    private static List<String> decode(byte[] stream, int... cuts) {
        TextDecoder decoder = new TextDecoder();
        List<String> events = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(1024);
            int from = 0;
            for (int piece = 0; piece <= cuts.length; piece++) {
                int to = piece < cuts.length ? cuts[piece] : stream.length;
                ByteBuffer input = ByteBuffer.allocateDirect(to - from)
                        .put(stream, from, to - from)
                        .flip();
                from = to;
                TextDecoder.Event event;
                while ((event = decoder.next(input)) != TextDecoder.Event.NEED_INPUT) {
                    switch (event) {
                        case REQUEST -> events.add(describe(decoder, value));
                        case VALUE -> events.add("value " + decoder.isValueTerminated() + " " + text(value));
                        default -> {
                            events.add(event.toString());
                            return events;
                        }
                    }
                }
                assertEquals(0, input.remaining());
            }
        }
        return events;
    }

    private static String describe(TextDecoder decoder, MemorySegment value) {
        TextRequest request = decoder.request();
        StringBuilder text = new StringBuilder(request.command().toString());
        switch (request.command()) {
            case GET, GETS, GAT, DELETE -> {
                if (request.isPart()) {
                    text.append(" part");
                }
                for (int i = 0; i < request.keyCount(); i++) {
                    text.append(' ').append(key(request, i));
                }
            }
            case SET -> {
                text.append(' ').append(key(request, 0)).append(' ').append(Integer.toUnsignedString(request.flags()));
                text.append(' ').append(request.exptime()).append(' ').append(request.valueLength());
                value.fill((byte) 0);
                boolean fits = request.valueLength() <= value.byteSize();
                decoder.expectValue(fits ? value.asByteBuffer()::put : null, request.valueLength());
            }
            case RGET -> {
                text.append(' ').append(key(request, 0)).append(' ').append(Integer.toUnsignedString(request.rkey()));
                text.append(' ')
                        .append(Long.toUnsignedString(request.address()))
                        .append(' ')
                        .append(request.length());
                text.append(' ').append(Long.toUnsignedString(request.opaque()));
            }
            case INVALID -> text.append(' ').append(new String(request.error(), StandardCharsets.US_ASCII).strip());
            default -> text.append(' ').append(request.argument(1));
        }
        return (request.noreply() ? text.append(" noreply") : text).toString().strip();
    }

    private static String key(TextRequest request, int index) {
        return request.key(index).toString();
    }

    private static String text(MemorySegment value) {
        byte[] bytes = value.toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.US_ASCII).replace("\0", "").replace("\r\n", "~");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        get a                               | GET a
        get a b  c                          | GET a b c
        gets a                              | GETS a
        get                                 | INVALID ERROR
        GET a                               | INVALID ERROR
        x                                   | INVALID ERROR
        ''                                  | INVALID ERROR
        set a 0 0 -1                        | INVALID CLIENT_ERROR bad command line format
        set a x 0 1                         | INVALID CLIENT_ERROR bad command line format
        set a 0 0 1x                        | INVALID CLIENT_ERROR bad command line format
        set a 4294967297 4294967295 1       | SET a 1 -1 1
        set a 0 9223372036854775808 1       | INVALID CLIENT_ERROR bad command line format
        set a 18446744073709551616 0 1      | INVALID CLIENT_ERROR bad command line format
        set a -1 0 1                        | INVALID CLIENT_ERROR bad command line format
        set a 0 0 4294967297                | SET a 0 0 1
        set a 0 0 2147483647                | INVALID CLIENT_ERROR bad command line format
        set a 0 0 99999999999999999999      | INVALID CLIENT_ERROR bad command line format
        set a 0 0                           | INVALID ERROR
        set a 0 0 1 2 3                     | INVALID ERROR
        set a x 0 1 noreply                 | INVALID CLIENT_ERROR bad command line format noreply
        delete a                            | DELETE a
        delete a 0                          | DELETE a
        delete a noreply                    | DELETE a noreply
        delete a 0 noreply                  | DELETE a noreply
        delete a 1                          | INVALID CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]
        delete a 0 0                        | INVALID CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]
        delete                              | INVALID ERROR
        version                             | VERSION
        stats                               | STATS
        stats rdma                          | STATS rdma
        quit                                | QUIT
        rdma hello 1                        | RDMA_HELLO hello
        rdma arenas                         | RDMA_ARENAS arenas
        rdma                                | INVALID ERROR
        rget k 4294967295 18446744073709551615 2147483647 18446744073709551615 | RGET k 4294967295 18446744073709551615 2147483647 18446744073709551615
        rget k 4294967296 0 1 2             | INVALID CLIENT_ERROR bad command line format
        rget k 1 18446744073709551616 1 2   | INVALID CLIENT_ERROR bad command line format
        rget k 1 28446744073709551615 1 2   | INVALID CLIENT_ERROR bad command line format
        rget k 1 -1 1 2                     | INVALID CLIENT_ERROR bad command line format
        rget k 1 2 3                        | INVALID ERROR
        GET / HTTP/1.1                      | CLOSE /
        """)
    void shouldParseLine(String line, String expected) {
        assertEquals(List.of(expected), decode(bytes(line + "\r\n")));
        assertEquals(List.of(expected), decode(bytes(line + "\n")));
    }

    @Test
    void shouldRefuseLongKeys() {
        assertEquals(List.of("GET " + KEY_250), decode(bytes("get " + KEY_250 + "\r\n")));
        String bad = "INVALID CLIENT_ERROR bad command line format";
        assertEquals(List.of(bad), decode(bytes("get a " + KEY_250 + "k\r\n")));
        assertEquals(List.of(bad), decode(bytes("set " + KEY_250 + "k 0 0 1\r\n")));
        assertEquals(List.of(bad), decode(bytes("delete " + KEY_250 + "k\r\n")));
    }

    @Test
    void shouldFindTheSameEventsWhereverTheStreamIsCut() {
        byte[] stream = bytes("set a 5 10 8\r\nab\r\ncd\r\n\r\nget a b\r\nset b 0 0 0 noreply\r\n\r\nbogus\n"
                + "set c 0 0 2\r\nabXYdelete " + "k".repeat(251) + "\r\nquit\r\n");
        List<String> expected = List.of(
                "SET a 5 10 8",
                "value true ab~cd~",
                "GET a b",
                "SET b 0 0 0 noreply",
                "value true",
                "INVALID ERROR",
                "SET c 0 0 2",
                "value false ab",
                "INVALID CLIENT_ERROR bad command line format",
                "QUIT");
        assertEquals(expected, decode(stream).stream().map(String::strip).toList());
        for (int cut = 0; cut <= stream.length; cut++) {
            assertEquals(
                    expected, decode(stream, cut).stream().map(String::strip).toList(), "cut at " + cut);
        }
        int[] everywhere = new int[stream.length];
        for (int i = 0; i < everywhere.length; i++) {
            everywhere[i] = i;
        }
        assertEquals(
                expected, decode(stream, everywhere).stream().map(String::strip).toList());
    }

    @Test
    void shouldSkipValueThatNobodyWants() {
        String value = "v".repeat(5000);
        assertEquals(
                List.of("SET a 0 0 5000", "value true", "QUIT"),
                decode(bytes("set a 0 0 5000\r\n" + value + "\r\nquit\r\n"), 700, 3000).stream()
                        .map(String::strip)
                        .toList());
    }

    @Test
    void shouldGiveUpOnEndlessLine() {
        assertEquals(List.of("LINE_TOO_LONG"), decode(bytes("x".repeat(4000)), 1000, 2000, 3000));
        assertEquals(List.of("LINE_TOO_LONG"), decode(bytes("getx" + "x".repeat(4000)), 1000, 2000, 3000));
        assertEquals(List.of("LINE_TOO_LONG"), decode(bytes(" ".repeat(3000)), 2000));
        assertEquals(List.of("LINE_TOO_LONG"), decode(bytes("set " + " ".repeat(17_000) + "a 0 0 1\r\n")));
        assertEquals(List.of("INVALID ERROR"), decode(bytes("get " + " ".repeat(4000) + "a\r\n"), 3000));
    }

    @Test
    void shouldTakeLongMultiget() {
        StringBuilder line = new StringBuilder("  gets");
        for (int i = 0; i < 1000; i++) {
            line.append(" key").append(i);
        }
        byte[] stream = bytes(line + "\r\nversion\r\n");
        String expected = IntStream.range(0, 1000).mapToObj(i -> "key" + i).collect(Collectors.joining(" "));
        for (int cut : new int[] {0, 1, 5, 7, 2047, 2048, 2049, 4096, stream.length - 12, stream.length - 9}) {
            List<String> events = new ArrayList<>(decode(stream, cut));
            assertEquals("VERSION", events.removeLast());
            assertTrue(events.stream().allMatch(event -> event.startsWith("GETS")), "cut at " + cut);
            assertTrue(events.subList(0, events.size() - 1).stream().allMatch(event -> event.startsWith("GETS part")));
            assertFalse(events.getLast().startsWith("GETS part"));
            assertEquals(
                    expected,
                    events.stream()
                            .map(event ->
                                    event.replaceFirst("^GETS( part)?", "").strip())
                            .collect(Collectors.joining(" "))
                            .strip());
        }
    }

    @Test
    void shouldEndALongGetWhereverItsPartsEnd() {
        for (int blanks = 0; blanks < 300; blanks++) {
            String line = "gat 5 a" + " ".repeat(1900 + blanks) + "b c " + "d".repeat(100);
            List<String> events = decode(bytes(line + "\r\nquit\r\n"));
            assertEquals(
                    "GAT a b c " + "d".repeat(100) + " QUIT",
                    String.join(" ", events).replaceAll(" (GAT|part)(?= )", "").replaceAll(" +", " "),
                    "blanks " + blanks);
        }
    }

    @Test
    void shouldRefuseALongGetOnceAndSkipTheRestOfIt() {
        String keys = "x ".repeat(2000);
        String bad = "INVALID CLIENT_ERROR bad command line format";
        for (int cut : new int[] {0, 1000, 2500, 5000}) {
            byte[] stream = bytes("get " + keys + KEY_250 + "k " + keys + keys + "\r\nquit\r\n");
            List<String> events = decode(stream, cut);
            assertEquals(List.of(bad, "QUIT"), events.subList(events.size() - 2, events.size()), "cut at " + cut);
            assertEquals(1, events.stream().filter(bad::equals).count());
        }
        assertEquals(
                List.of("INVALID CLIENT_ERROR invalid exptime argument", "QUIT"),
                decode(bytes("gat x " + keys + "\r\nquit\r\n")));
    }

    @Test
    void shouldTakeOnlyShortLinesBeforeLogin() {
        for (String line : List.of("get " + "x ".repeat(2000), "set k 0 0" + " ".repeat(2100) + "1")) {
            for (String end : List.of("", "\r\n")) {
                TextDecoder decoder = new TextDecoder();
                decoder.onlyShortLines(true);
                assertEquals(TextDecoder.Event.LINE_TOO_LONG, decoder.next(ByteBuffer.wrap(bytes(line + end))));
            }
        }
    }

    @Test
    void shouldKeepNothingLongBetweenRequests() {
        TextDecoder decoder = new TextDecoder();
        ByteBuffer input = ByteBuffer.wrap(bytes("set" + " x".repeat(8000) + "\r\n"));
        assertEquals(TextDecoder.Event.REQUEST, decoder.next(input));
        assertEquals(8000, decoder.request().argumentCount());
        assertEquals(TextDecoder.Event.NEED_INPUT, decoder.next(input));
        assertEquals(0, decoder.request().bytes().length);
        assertTrue(decoder.request().keptWords() <= 128);
    }
}
