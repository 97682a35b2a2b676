package org.softrdma.kv.parity;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text protocol, classic and meta: mostly requests that do something, with few keys so that they meet; some whose
 * words are drawn without regard to what they should be.
 */
final class TextDialect implements Dialect {
    private static final List<String> KEYS = List.of("a", "b", "c", "a", "b", "key:with:prefix", "k".repeat(250));

    /** Keys in base 64, as they should be and as they should not. */
    private static final List<String> ENCODED = List.of(
            "YQ==",
            "Yg==",
            "YWI=",
            "YWJj",
            "YQ",
            "YWI",
            "YWJjZ",
            "YW=j",
            "====",
            "YQ=a",
            "YQ===",
            "Y!Q==",
            "YQ==YQ==",
            "a");

    private static final List<String> BAD_KEYS = List.of("k".repeat(251), "a\tb", "\u00e9", "%00", "a\rb");

    private static final List<String> NUMBERS = List.of(
            "0",
            "1",
            "2",
            "5",
            "10",
            "+1",
            "-0",
            "-1",
            "-5",
            "007",
            "2147483647",
            "2147483648",
            "4294967295",
            "4294967296",
            "4294967297",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            "x",
            "1x",
            "0x10",
            "1.5",
            "+",
            "-",
            "--1",
            "\t5",
            "5\t",
            "5\tx",
            "");

    /** Lives of items: for ever, for long, over already, and what is no time. None that ends during the test. */
    private static final List<String> EXPTIMES = List.of(
            "0",
            "0",
            "0",
            "0",
            "100",
            "1000",
            "2591999",
            "-1",
            "2592001",
            "1000000000",
            "2147483647",
            "4294967296",
            "-2147483648",
            "+100",
            "100\t",
            "x",
            "",
            "1x",
            "99999999999999999999");

    /** None with a minus: KnownDifference.MEMORY_BEHIND. */
    private static final List<String> VALUES = List.of(
            "",
            "x",
            "5",
            "10",
            "xyz",
            " 5",
            "5 ",
            "+7",
            "00000000000000000000000012",
            "18446744073709551615",
            "184467440737095516150",
            "1x2",
            "0",
            "99",
            "\u0000\u0001\u00ff",
            "y".repeat(100),
            "z".repeat(3000));

    private static final List<String> FLAGS =
            List.of("0", "1", "4294967295", "4294967296", "-1", "+5", "x", "", "18446744073709551616");
    private static final List<String> STORES = List.of("set", "set", "add", "replace", "append", "prepend", "cas");

    private static final List<String> WORDS = List.of(
            "get",
            "gets",
            "gat",
            "gats",
            "set",
            "add",
            "replace",
            "append",
            "prepend",
            "cas",
            "incr",
            "decr",
            "delete",
            "touch",
            "mg",
            "ms",
            "md",
            "ma",
            "me",
            "mn",
            "mx",
            "m",
            "flush_all",
            "version",
            "verbosity",
            "bget",
            "lru",
            "lru_crawler",
            "slabs",
            "stats",
            "bogus",
            "noreply",
            "a",
            "0",
            "1",
            "-1",
            "q",
            "v",
            "b",
            "k",
            "x",
            "T",
            "T0",
            "N0",
            "Oo",
            "GET",
            "",
            "HTTP",
            "mode",
            "tune",
            "crawl",
            "enable",
            "1,2",
            "64",
            "temp_ttl",
            "reassign",
            "automove");

    private static final Pattern CAS = Pattern.compile(
            "(?m)^VALUE [^ \\n]+ \\d+ \\d+ (\\d+)\\r?$|(?<=^(?:HD|VA|ME)[^\\n]{0,600} )c([0-9]+)(?=[ \\r])");
    private static final int ODDS = 100;

    private RandomGenerator random = RandomGenerator.getDefault();

    @Override
    public Unit store() {
        return Unit.withValue("set a 0 0 1", "x");
    }

    @Override
    public Unit reset() {
        return Unit.line("flush_all");
    }

    @Override
    public byte[] marker(int number) {
        return ("mg no-such-key Om" + number + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public byte[] markerAnswer(int number) {
        return ("EN Om" + number + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public Unit next(RandomGenerator source) {
        random = source;
        int odds = random.nextInt(ODDS);
        if (odds < 25) {
            return storage();
        }
        if (odds < 35) {
            return get();
        }
        if (odds < 50) {
            return change();
        }
        if (odds < 62) {
            return metaSet();
        }
        if (odds < 76) {
            return Unit.line("mg " + key() + flags("vvkktfshlcqbuTNRO"));
        }
        if (odds < 83) {
            return Unit.line("md " + key() + flags("qkbOICTx"));
        }
        if (odds < 91) {
            return Unit.line("ma " + key() + flags("vvtckqbOTNJDDMC"));
        }
        if (odds < 93) {
            return Unit.line("me " + key() + flags("bkvO"));
        }
        if (odds < 96) {
            return administer();
        }
        return garbage();
    }

    private Unit storage() {
        String command = one(STORES);
        String value = one(VALUES);
        String line = command + " " + key() + " " + rarely(FLAGS, "7") + " " + exptime() + " " + length(value);
        if (command.equals("cas")) {
            if (line.contains("  ") || line.endsWith(" ")) {
                return Unit.withValue(
                        line, value); // or the cas number were the length, and those are each server's own
            }
            line += " " + cas();
        }
        return Unit.withValue(line + noreply(), value);
    }

    private Unit get() {
        return switch (random.nextInt(8)) {
            case 0 -> Unit.line("gets " + key());
            case 1 -> Unit.line("gat " + exptime() + " " + key());
            case 2 -> Unit.line("gats " + exptime() + " " + key() + " " + key());
            case 3 -> Unit.line("get " + key() + " " + key() + "  " + key());
            case 4 -> Unit.line("get  " + key() + " ");
            default -> Unit.line("get " + key());
        };
    }

    private Unit change() {
        return switch (random.nextInt(8)) {
            case 0, 1 -> Unit.line("incr " + key() + " " + one(NUMBERS) + noreply());
            case 2, 3 -> Unit.line("decr " + key() + " " + one(NUMBERS) + noreply());
            case 4, 5 ->
                Unit.line("delete " + key() + (random.nextInt(4) == 0 ? " " + one(List.of("0", "1", "x")) : "")
                        + noreply());
            default -> Unit.line("touch " + key() + " " + exptime() + (random.nextInt(5) == 0 ? "\r" : "") + noreply());
        };
    }

    private Unit metaSet() {
        String value = one(VALUES);
        return Unit.withValue("ms " + key() + " " + length(value) + flags("qkcbOTTFCMIIN"), value);
    }

    private Unit administer() {
        return switch (random.nextInt(12)) {
            case 0, 1 -> Unit.line("flush_all" + noreply());
            case 2 ->
                Unit.line("flush_all " + one(List.of("0", "-1", "1", "2592001", "x", "100", "1000000000")) + noreply());
            case 3 -> Unit.line("verbosity " + one(List.of("0", "0", "x", "")) + noreply());
            case 4 ->
                Unit.line("lru "
                        + one(List.of(
                                "tune 10 25 0.1 2.0",
                                "tune 50 50 1 1",
                                "tune 1 1 0 1",
                                "tune a 1 1 1",
                                "tune 20 40 0.2",
                                "mode x",
                                "mode",
                                "temp_ttl -1",
                                "temp_ttl x",
                                "temp_ttl",
                                "x",
                                ""))
                        + noreply());
            case 5 ->
                Unit.line("lru_crawler "
                        + one(List.of(
                                "tocrawl 5",
                                "tocrawl x",
                                "tocrawl",
                                "sleep 100",
                                "sleep 1000001",
                                "sleep -1",
                                "crawl 64",
                                "crawl 0",
                                "crawl x",
                                "x",
                                "",
                                "crawl",
                                "metadump",
                                "metadump 64",
                                "metadump x y")));
            case 6 ->
                Unit.line("stats "
                        + one(List.of(
                                "bogus",
                                "detail",
                                "detail x",
                                "detail off",
                                "cachedump",
                                "cachedump x 1",
                                "cachedump 64 1",
                                "cachedump 40 0",
                                "sizes",
                                "sizes_disable")));
            case 7 -> Unit.line("cache_memlimit " + one(List.of("64", "7", "1000000001", "x", "")) + noreply());
            case 8 ->
                Unit.line("slabs " + one(List.of("automove 0", "automove x", "automove", "reassign", "x", ""))
                        + noreply());
            case 9 -> Unit.line("watch " + one(List.of("x", "fetchers x")));
            case 10 -> Unit.line("shutdown" + one(List.of("", " x", " graceful")));
            default -> Unit.line(one(List.of("mn", "mn x", "version", "version x", "mx", "bget " + key())));
        };
    }

    private Unit garbage() {
        StringBuilder line = new StringBuilder(one(WORDS));
        for (int i = random.nextInt(7); i > 0; i--) {
            line.append(random.nextInt(10) == 0 ? "  " : " ").append(random.nextInt(3) == 0 ? key() : one(WORDS));
        }
        String text = line.toString();
        // What would end the connection or wait for a value that nobody sends is no unit, nor is what tells versions.
        String first = text.strip().split(" +", -1)[0];
        boolean stores = STORES.contains(first) || first.equals("ms");
        boolean special = first.equals("version") || first.equals("stats") || first.equals("slabs");
        return stores || special ? Unit.line("bogus " + text) : Unit.line(text);
    }

    private String key() {
        int odds = random.nextInt(20);
        return odds == 0 ? one(BAD_KEYS) : odds == 1 ? one(ENCODED) : one(KEYS);
    }

    private String exptime() {
        return random.nextInt(3) == 0 ? one(EXPTIMES) : "0";
    }

    private String noreply() {
        return random.nextInt(12) == 0 ? " noreply" : "";
    }

    /** Mostly right; never more than what follows, or the next request would be the rest of the value. */
    private String length(String value) {
        return switch (random.nextInt(30)) {
            case 0 -> Integer.toString(Math.max(0, value.length() - 1));
            case 1 -> one(List.of("x", "-1", "", "1x"));
            case 2 -> "+" + value.length();
            case 3 -> "0" + value.length();
            default -> Integer.toString(value.length());
        };
    }

    private String cas() {
        return random.nextInt(4) == 0 ? one(NUMBERS) : random.nextInt(3) == 0 ? Unit.OLDER_CAS : Unit.CAS;
    }

    /** Flags of these letters, with arguments as they should be and as they should not. */
    private String flags(String letters) {
        StringBuilder flags = new StringBuilder();
        for (int i = random.nextInt(5); i > 0; i--) {
            char letter = letters.charAt(random.nextInt(letters.length()));
            flags.append(' ').append(letter).append(argument(letter));
        }
        if (random.nextInt(40) == 0) {
            flags.append(" a1".repeat(random.nextInt(20)));
        }
        return flags.toString();
    }

    private String argument(char letter) {
        return switch (letter) {
            case 'T', 'N', 'R' -> exptime();
            case 'O' -> one(List.of("1", "opaque", "", "o".repeat(30), "o".repeat(31), "o".repeat(32)));
            case 'C' -> cas();
            case 'F', 'J', 'D' -> random.nextBoolean() ? one(NUMBERS) : "3";
            case 'M' -> one(List.of("S", "A", "P", "E", "R", "I", "D", "+", "-", "X", "", "SS"));
            default -> random.nextInt(30) == 0 ? "x" : "";
        };
    }

    private String rarely(List<String> odd, String usual) {
        return random.nextInt(6) == 0 ? one(odd) : usual;
    }

    private String one(List<String> list) {
        return list.get(random.nextInt(list.size()));
    }

    @Override
    public String plain(String answer) {
        return answer.replaceAll("(?m)^(VALUE [^ \\n]+ \\d+ \\d+) \\d+\\r?$", "$1 CAS")
                .replaceAll("(?m)(?<=^(?:HD|VA|NS|EX|NF)[^\\n]{0,600} )c[1-9][0-9]*(?=[ \\r])", "cN")
                .replaceAll(
                        "(?m)^(ME [^ \\n]+ exp=\\S+ la=\\S+) cas=\\d+ fetch=(\\w+) cls=\\d+ size=\\d+", "$1 fetch=$2")
                .replaceAll("(?m)(?<=^(?:HD|VA)[^\\n]{0,600} )t([0-9]{9,}|0)(?=[ \\r])", "tN")
                .replaceAll("(?m)^ME ([^ \\n]+) exp=-?[0-9]+", "ME $1 exp=N")
                .replaceAll("(?m)^VERSION .*$", "VERSION")
                // The clocks of the two do not tick together: a second may have begun for one of them.
                .replaceAll("(?m)(?<=^(?:HD|VA)[^\\n]{0,600} )l1(?=[ \\r])", "l0")
                .replaceAll("(?m)^(ME [^ \\n]+ exp=\\S+) la=1", "$1 la=0")
                .replaceAll("(?m)(?<=^(?:HD|VA)[^\\n]{0,600} )t(?:99|999|2591998)(?=[ \\r])", "tL")
                .replaceAll("(?m)(?<=^(?:HD|VA)[^\\n]{0,600} )t(?:100|1000|2591999)(?=[ \\r])", "tL");
    }

    @Override
    public OptionalLong cas(String answer) {
        OptionalLong last = OptionalLong.empty();
        Matcher matcher = CAS.matcher(answer);
        while (matcher.find()) {
            String number = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
            if (number.length() < 18 && !number.equals("0")) {
                last = OptionalLong.of(Long.parseLong(number));
            }
        }
        return last;
    }
}
