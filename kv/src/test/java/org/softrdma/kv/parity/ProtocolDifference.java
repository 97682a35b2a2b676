package org.softrdma.kv.parity;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.kv.binary.BinaryOperation;
import org.softrdma.kv.server.BinaryClient;
import org.softrdma.kv.server.RawMemcached;

/**
 * What memcached 1.6.18 itself does differently with the same operation in its three protocols; this server does so too.
 * The reference is generated from this list.
 */
@SuppressWarnings("ImmutableEnumChecker") // nobody changes what they hold
enum ProtocolDifference {
    ADD(
            "`add` of a key that is there is answered",
            three -> three.classic("set k 0 0 1\r\n1\r\nadd k 0 0 1\r\n1", 2),
            three -> three.meta("ms k 1 ME\r\n1"),
            three -> three.binary(BinaryOperation.ADD, BinaryClient.store(0, 0), "k", "1", 0)),
    REPLACE(
            "`replace` of a key that is not there",
            three -> three.classic("replace no 0 0 1\r\n1", 1),
            three -> three.meta("ms no 1 MR\r\n1"),
            three -> three.binary(BinaryOperation.REPLACE, BinaryClient.store(0, 0), "no", "1", 0)),
    APPEND(
            "`append` to a key that is not there",
            three -> three.classic("append no 0 0 1\r\n1", 1),
            three -> three.meta("ms no 1 MA\r\n1"),
            three -> three.binary(BinaryOperation.APPEND, new byte[0], "no", "1", 0)),
    QUIET(
            "Arithmetic that creates a number, where success is not to be answered",
            three -> Three.NONE,
            three -> three.meta("ma new N0 q"),
            three -> three.quietly(BinaryOperation.INCREMENT, BinaryClient.count(1, 0, 0), "newer")),
    TOUCH(
            "A get that changes the expiry, and misses, counts as",
            three -> three.counted(List.of("touch_misses", "get_misses"), () -> three.classic("gat 0 no", 1)),
            three -> three.counted(List.of("touch_misses", "get_misses"), () -> three.meta("mg no T0 v")),
            three -> three.counted(
                    List.of("touch_misses", "get_misses"),
                    () -> three.binary(BinaryOperation.GAT, new byte[4], "no", "", 0))),
    DELETE(
            "A delete with a wrong cas number counts as",
            three -> Three.NONE,
            three -> three.counted(List.of("delete_misses"), () -> three.meta("md k C999999")),
            three -> three.counted(
                    List.of("delete_misses"),
                    () -> three.binary(BinaryOperation.DELETE, new byte[0], "k", "", 999_999))),
    PREFIX(
            "By prefix (`stats detail`), a get counts as",
            three -> three.countedByPrefix("c", () -> three.classic("get c:no", 1)),
            three -> three.countedByPrefix("m", () -> three.meta("mg m:no v")),
            three -> three.countedByPrefix("b", () -> three.binary(BinaryOperation.GET, new byte[0], "b:no", "", 0))),
    PREFIX_OF_TOUCH(
            "By prefix, a touch counts as",
            three -> three.countedByPrefix("ct", () -> three.classic("touch ct:no 0", 1)),
            three -> Three.NONE,
            three -> three.countedByPrefix(
                    "bt", () -> three.binary(BinaryOperation.TOUCH, new byte[4], "bt:no", "", 0))),
    TOO_LARGE(
            "If a value with a cas number is too large, the older value",
            three -> three.kept(cas -> three.classic("cas kept 0 0 2000000 " + cas + "\r\n" + Three.LARGE, 1)),
            three -> three.kept(cas -> three.meta("ms kept 2000000 C" + cas + "\r\n" + Three.LARGE)),
            three -> three.kept(
                    cas -> three.binary(BinaryOperation.SET, BinaryClient.store(0, 0), "kept", Three.LARGE, cas)));

    private final String what;
    private final Look classic;
    private final Look meta;
    private final Look binary;

    ProtocolDifference(String what, Look classic, Look meta, Look binary) {
        this.what = what;
        this.classic = classic;
        this.meta = meta;
        this.binary = binary;
    }

    /** Asks, and says what came of it. */
    interface Look {
        String at(Three three) throws IOException;
    }

    /** Asks for something. */
    private interface Request {
        String send() throws IOException;
    }

    /** Asks for something with a cas number. */
    private interface CasRequest {
        String send(long cas) throws IOException;
    }

    /** The row of the reference, as a server behaves. */
    String row(Three three) throws IOException {
        return "| " + what + " | " + classic.at(three) + " | " + meta.at(three) + " | " + binary.at(three) + " |";
    }

    /** Connections to one server, one of each protocol. */
    static final class Three implements AutoCloseable {
        /** No such thing can be asked for. */
        private static final String NONE = "-";

        private static final String LARGE = "x".repeat(2_000_000);

        private final RawMemcached text;
        private final BinaryClient frames;

        Three(InetSocketAddress address) throws IOException {
            text = new RawMemcached(address);
            frames = new BinaryClient(address);
        }

        /** The last of so many lines that answer; what a get returns has one line if it misses. */
        private String classic(String requests, int lines) throws IOException {
            text.send(requests + "\r\n");
            String line = "";
            for (int i = 0; i < lines; i++) {
                line = text.readLine();
            }
            return "`" + line + "`";
        }

        private String meta(String request) throws IOException {
            return classic(request, 1);
        }

        private String binary(BinaryOperation operation, byte[] extras, String key, String value, long cas)
                throws IOException {
            frames.send(BinaryClient.frame(operation.opcode(), extras, key, value, 0, cas));
            BinaryClient.Answer answer = frames.read();
            return "`0x%04x`, %s".formatted(answer.status(), answer.value());
        }

        private String quietly(BinaryOperation operation, byte[] extras, String key) throws IOException {
            List<String> answers = frames.askAll(BinaryClient.frame(operation.quietOpcode(), extras, key, "", 0, 0));
            return answers.isEmpty() ? "not answered" : answers.toString();
        }

        /** Which of some statistics a request counts. */
        private String counted(List<String> names, Request request) throws IOException {
            List<Long> before = statistics(names);
            String ignored = request.send();
            List<Long> after = statistics(names);
            StringBuilder counted = new StringBuilder();
            for (int i = 0; i < names.size(); i++) {
                counted.append(after.get(i) > before.get(i) ? "`" + names.get(i) + "`" : "");
            }
            return counted.isEmpty() ? "nothing" : counted.toString();
        }

        private List<Long> statistics(List<String> names) throws IOException {
            List<String> lines = lines("stats");
            return names.stream()
                    .map(name -> "STAT " + name + " ")
                    .map(start -> lines.stream()
                            .filter(line -> line.startsWith(start))
                            .map(line -> Long.valueOf(line.substring(start.length())))
                            .findFirst()
                            .orElseThrow())
                    .toList();
        }

        private List<String> lines(String command) throws IOException {
            text.send(command + "\r\n");
            List<String> lines = new ArrayList<>();
            for (String line = text.readLine(); !line.equals("END"); line = text.readLine()) {
                lines.add(line);
            }
            return lines;
        }

        private String countedByPrefix(String prefix, Request request) throws IOException {
            String ignored = classic("stats detail on", 1) + request.send();
            return lines("stats detail dump").stream().anyMatch(line -> line.startsWith("PREFIX " + prefix + " get 1 "))
                    ? "a get"
                    : "nothing";
        }

        /** What becomes of an item when another is to replace it that has its cas number. */
        private String kept(CasRequest request) throws IOException {
            String described = classic("ms kept 1\r\n1\r\nmg kept c", 2);
            String ignored = request.send(Long.parseLong(described.replaceAll("[^0-9]", "")));
            return classic("mg kept", 1).equals("`HD`") ? "stays" : "is gone";
        }

        @Override
        public void close() throws IOException {
            text.close();
            frames.close();
        }
    }
}
