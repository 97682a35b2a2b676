package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.CompletionStatus;

/**
 * Every segment that breaks a rule: the right Terminate, byte for byte, then the end of the stream; for that connection alone.
 */
class MalformedStreamTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final String PROTOCOL = "protocolErrors";
    private static final String ACCESS = "accessErrors";

    /** Terminate codes: layer, type, code (RFC 5040 figure 9, RFC 5041 section 7.2). */
    private static final int UNSPECIFIED = 0x02FF;

    private static final int RDMAP_VERSION = 0x0205;
    private static final int RDMAP_OPCODE = 0x0206;
    private static final int CANNOT_INVALIDATE = 0x0109;
    private static final int READ_INVALID_STAG = 0x0100;
    private static final int READ_BOUNDS = 0x0101;
    private static final int READ_RIGHTS = 0x0102;
    private static final int READ_DOMAIN = 0x0103;
    private static final int READ_WRAP = 0x0104;
    private static final int TAGGED_STAG = 0x1100;
    private static final int TAGGED_BOUNDS = 0x1101;
    private static final int TAGGED_DOMAIN = 0x1102;
    private static final int TAGGED_WRAP = 0x1103;
    private static final int TAGGED_VERSION = 0x1104;
    private static final int QUEUE_NUMBER = 0x1201;
    private static final int NO_BUFFER = 0x1202;
    private static final int MSN_RANGE = 0x1203;
    private static final int MESSAGE_OFFSET = 0x1204;
    private static final int TOO_LONG = 0x1205;
    private static final int UNTAGGED_VERSION = 0x1206;

    enum Headers {
        NONE,
        DDP,
        DDP_AND_READ
    }

    /**
     * One way to break a rule.
     *
     * @param name for people
     * @param code what the Terminate says
     * @param headers what it includes of the last segment
     * @param counter what is counted
     * @param readPosted the device has a READ outstanding
     * @param receives RECVs posted
     * @param answers READ responses that come before the Terminate
     * @param succeeded RECVs that succeed before
     * @param segments what the peer sends, the last one wrong
     */
    record Case(
            String name,
            int code,
            Headers headers,
            String counter,
            boolean readPosted,
            int receives,
            int answers,
            int succeeded,
            Function<Scene, List<byte[]>> segments) {
        Case withRead() {
            return new Case(name, code, headers, counter, true, receives, answers, succeeded, segments);
        }

        Case receives(int count) {
            return new Case(name, code, headers, counter, readPosted, count, answers, succeeded, segments);
        }

        Case answers(int count) {
            return new Case(name, code, headers, counter, readPosted, receives, count, succeeded, segments);
        }

        Case succeeded(int count) {
            return new Case(name, code, headers, counter, readPosted, receives, answers, count, segments);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Case one(String name, int code, String counter, Function<Scene, byte[]> segment) {
        return many(name, code, counter, scene -> List.of(segment.apply(scene)));
    }

    private static Case many(String name, int code, String counter, Function<Scene, List<byte[]>> segments) {
        Headers headers = code >>> 8 == 0x01 && code != CANNOT_INVALIDATE ? Headers.DDP_AND_READ : Headers.DDP;
        return new Case(name, code, headers, counter, false, 2, 0, 0, segments);
    }

    private static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        shortSegments(cases);
        opcodes(cases);
        versions(cases);
        queues(cases);
        sends(cases);
        writes(cases);
        readRequests(cases);
        readResponses(cases);
        return cases;
    }

    private static void shortSegments(List<Case> cases) {
        for (int length = 0; length < 18; length++) {
            byte[] whole = Frames.send(1);
            byte[] tagged = Frames.tagged(Frames.WRITE, true, 0, 0);
            int bytes = length;
            if (length < 14) {
                cases.add(
                        headerless("tagged ULPDU of " + length + " bytes", scene -> TestBytes.slice(tagged, 0, bytes)));
            }
            cases.add(headerless("untagged ULPDU of " + length + " bytes", scene -> TestBytes.slice(whole, 0, bytes)));
        }
    }

    private static Case headerless(String name, Function<Scene, byte[]> segment) {
        return new Case(
                name, UNSPECIFIED, Headers.NONE, PROTOCOL, false, 2, 0, 0, scene -> List.of(segment.apply(scene)));
    }

    private static void opcodes(List<Case> cases) {
        for (int opcode = 0; opcode < 16; opcode++) {
            int op = opcode;
            if (opcode != Frames.WRITE && opcode != Frames.READ_RESPONSE) {
                cases.add(one(
                                "tagged opcode " + opcode,
                                RDMAP_OPCODE,
                                PROTOCOL,
                                scene -> Frames.tagged(
                                        op,
                                        true,
                                        scene.readWrite.region().rkey(),
                                        scene.readWrite.region().address(),
                                        (byte) 1))
                        .withRead());
            }
            if (opcode == Frames.WRITE || opcode == Frames.READ_RESPONSE || opcode > Frames.ATOMIC_RESPONSE) {
                for (int queue = 0; queue < 3; queue++) {
                    int qn = queue;
                    cases.add(one(
                            "untagged opcode " + opcode + " on queue " + queue,
                            RDMAP_OPCODE,
                            PROTOCOL,
                            scene -> Frames.untagged(op, true, qn, 1, 0, new byte[28])));
                }
            }
        }
        for (int opcode : new int[] {Frames.SEND_INVALIDATE, Frames.SEND_SOLICITED_INVALIDATE}) {
            cases.add(one(
                    "opcode " + opcode + ", invalidate",
                    CANNOT_INVALIDATE,
                    ACCESS,
                    scene -> Frames.untagged(opcode, true, 0, 1, 0, (byte) 1)));
            boolean solicited = opcode == Frames.SEND_SOLICITED_INVALIDATE;
            cases.add(one(
                    "opcode " + opcode + ", invalidates a region",
                    CANNOT_INVALIDATE,
                    ACCESS,
                    scene -> Frames.sendInvalidate(
                            solicited, 1, scene.readWrite.region().rkey())));
            cases.add(one(
                    "opcode " + opcode + ", invalidates what is gone",
                    CANNOT_INVALIDATE,
                    ACCESS,
                    scene -> Frames.sendInvalidate(solicited, 1, scene.staleKey, (byte) 7)));
            cases.add(one(
                            "opcode " + opcode + ", no RECV",
                            NO_BUFFER,
                            PROTOCOL,
                            scene -> Frames.sendInvalidate(solicited, 1, scene.staleKey))
                    .receives(0));
        }
    }

    private static void versions(List<Case> cases) {
        for (int version : new int[] {0, 2, 3}) {
            int ddp = Frames.LAST | 0x0040 | version << 8;
            int rdmap = Frames.LAST | 0x0100 | version << 6;
            cases.add(one(
                    "DDP version " + version + ", tagged",
                    TAGGED_VERSION,
                    PROTOCOL,
                    scene -> Frames.taggedControl(
                            0x8000 | ddp | Frames.WRITE,
                            scene.readWrite.region().rkey(),
                            scene.readWrite.region().address(),
                            (byte) 9)));
            cases.add(one(
                    "DDP version " + version + ", untagged",
                    UNTAGGED_VERSION,
                    PROTOCOL,
                    scene -> Frames.untaggedControl(ddp | Frames.SEND, 0, 1, 0, (byte) 9)));
            cases.add(one(
                    "DDP version " + version + ", READ request",
                    UNTAGGED_VERSION,
                    PROTOCOL,
                    scene -> Frames.untaggedControl(ddp | Frames.READ_REQUEST, 1, 1, 0, new byte[28])));
            cases.add(one(
                    "RDMAP version " + version + ", tagged",
                    RDMAP_VERSION,
                    PROTOCOL,
                    scene -> Frames.taggedControl(
                            0x8000 | rdmap | Frames.WRITE,
                            scene.readWrite.region().rkey(),
                            scene.readWrite.region().address(),
                            (byte) 9)));
            cases.add(one(
                    "RDMAP version " + version + ", untagged",
                    RDMAP_VERSION,
                    PROTOCOL,
                    scene -> Frames.untaggedControl(rdmap | Frames.SEND, 0, 1, 0, (byte) 9)));
            cases.add(one(
                    "RDMAP version " + version + ", READ request",
                    RDMAP_VERSION,
                    PROTOCOL,
                    scene -> Frames.untaggedControl(rdmap | Frames.READ_REQUEST, 1, 1, 0, new byte[28])));
        }
    }

    private static void queues(List<Case> cases) {
        for (int queue : new int[] {3, 0x7FFF_FFFF, 0x8000_0000, -1}) {
            cases.add(one(
                    "SEND on queue 0x" + Integer.toHexString(queue),
                    QUEUE_NUMBER,
                    PROTOCOL,
                    scene -> Frames.untagged(Frames.SEND, true, queue, 1, 0, (byte) 1)));
        }
        for (int queue : new int[] {1, 2}) {
            cases.add(one(
                    "SEND on queue " + queue,
                    QUEUE_NUMBER,
                    PROTOCOL,
                    scene -> Frames.untagged(Frames.SEND, true, queue, 1, 0, (byte) 1)));
            cases.add(one(
                    "solicited SEND on queue " + queue,
                    QUEUE_NUMBER,
                    PROTOCOL,
                    scene -> Frames.untagged(Frames.SEND_SOLICITED, true, queue, 1, 0, (byte) 1)));
        }
        for (int queue : new int[] {0, 2, 3}) {
            cases.add(one(
                    "READ request on queue " + queue,
                    QUEUE_NUMBER,
                    PROTOCOL,
                    scene -> Frames.untagged(
                            Frames.READ_REQUEST,
                            true,
                            queue,
                            1,
                            0,
                            Frames.readRequestBody(
                                    1,
                                    2,
                                    3,
                                    scene.readWrite.region().rkey(),
                                    scene.readWrite.region().address()))));
        }
        for (int queue : new int[] {0, 1, 3}) {
            cases.add(one(
                    "Terminate on queue " + queue,
                    QUEUE_NUMBER,
                    PROTOCOL,
                    scene -> Frames.untagged(Frames.TERMINATE, true, queue, 1, 0, new byte[4])));
        }
    }

    private static void sends(List<Case> cases) {
        for (int msn : new int[] {0, 2, -1, 0x8000_0001}) {
            cases.add(one("SEND with MSN " + msn + " first", MSN_RANGE, PROTOCOL, scene -> Frames.send(msn, (byte) 1)));
        }
        cases.add(many(
                        "SEND with MSN repeated",
                        MSN_RANGE,
                        PROTOCOL,
                        scene -> List.of(Frames.send(1, (byte) 1), Frames.send(1, (byte) 1)))
                .succeeded(1));
        cases.add(many(
                        "SEND with MSN skipped",
                        MSN_RANGE,
                        PROTOCOL,
                        scene -> List.of(Frames.send(1, (byte) 1), Frames.send(3, (byte) 1)))
                .succeeded(1));
        cases.add(many(
                "MSN changes within a SEND",
                MSN_RANGE,
                PROTOCOL,
                scene -> List.of(
                        Frames.untagged(Frames.SEND, false, 0, 1, 0, (byte) 1),
                        Frames.untagged(Frames.SEND, true, 0, 2, 1, (byte) 1))));
        for (int offset : new int[] {1, 4, -1}) {
            cases.add(one(
                    "SEND begins at offset " + offset,
                    MESSAGE_OFFSET,
                    PROTOCOL,
                    scene -> Frames.untagged(Frames.SEND, true, 0, 1, offset, (byte) 1)));
        }
        for (int offset : new int[] {0, 9, 11}) {
            cases.add(many(
                    "SEND goes on at offset " + offset + " not 10",
                    MESSAGE_OFFSET,
                    PROTOCOL,
                    scene -> List.of(
                            Frames.untagged(Frames.SEND, false, 0, 1, 0, new byte[10]),
                            Frames.untagged(Frames.SEND, true, 0, 1, offset, new byte[10]))));
        }
        cases.add(one("SEND without RECV", NO_BUFFER, PROTOCOL, scene -> Frames.send(1, (byte) 1))
                .receives(0));
        cases.add(one("empty SEND without RECV", NO_BUFFER, PROTOCOL, scene -> Frames.send(1))
                .receives(0));
        cases.add(many(
                        "third SEND for two RECVs",
                        NO_BUFFER,
                        PROTOCOL,
                        scene -> List.of(Frames.send(1, (byte) 1), Frames.send(2, (byte) 2), Frames.send(3, (byte) 3)))
                .succeeded(2));
        cases.add(one(
                "SEND one byte too long",
                TOO_LONG,
                PROTOCOL,
                scene -> Frames.send(1, new byte[Scene.RECEIVE_BYTES + 1])));
        cases.add(one("SEND far too long", TOO_LONG, PROTOCOL, scene -> Frames.send(1, new byte[65_000])));
        cases.add(many(
                "SEND too long in its second segment",
                TOO_LONG,
                PROTOCOL,
                scene -> List.of(
                        Frames.untagged(Frames.SEND, false, 0, 1, 0, new byte[Scene.RECEIVE_BYTES]),
                        Frames.untagged(Frames.SEND, true, 0, 1, Scene.RECEIVE_BYTES, (byte) 1))));
    }

    private static void writes(List<Case> cases) {
        cases.add(write("before the region", TAGGED_BOUNDS, -1, 1));
        cases.add(write("across the beginning", TAGGED_BOUNDS, -1, 2));
        cases.add(write("across the end", TAGGED_BOUNDS, Scene.REGION_BYTES - 1, 2));
        cases.add(write("right behind the region", TAGGED_BOUNDS, Scene.REGION_BYTES, 1));
        cases.add(write("longer than the region", TAGGED_BOUNDS, 0, Scene.REGION_BYTES + 1));
        cases.add(write("far behind the region", TAGGED_BOUNDS, 1L << 40, 1));
        for (long address : new long[] {-1, -2, -16}) {
            cases.add(one(
                    "WRITE that wraps from " + address,
                    TAGGED_WRAP,
                    ACCESS,
                    scene -> Frames.tagged(
                            Frames.WRITE, true, scene.readWrite.region().rkey(), address, new byte[16])));
        }
        cases.add(one(
                "WRITE before a zero-based region",
                TAGGED_BOUNDS,
                ACCESS,
                scene -> Frames.tagged(
                        Frames.WRITE, true, scene.zeroBased.region().rkey(), -100, new byte[16])));
        cases.add(one(
                "WRITE behind a zero-based region",
                TAGGED_BOUNDS,
                ACCESS,
                scene -> Frames.tagged(
                        Frames.WRITE, true, scene.zeroBased.region().rkey(), Scene.REGION_BYTES, new byte[1])));
        cases.add(one(
                "WRITE by real address to a zero-based region",
                TAGGED_BOUNDS,
                ACCESS,
                scene -> Frames.tagged(
                        Frames.WRITE,
                        true,
                        scene.zeroBased.region().rkey(),
                        scene.zeroBased.inner().address(),
                        new byte[1])));
        cases.add(writeTo("key 0", TAGGED_STAG, scene -> scene.readWrite, 0));
        cases.add(one(
                "WRITE with a stale key",
                TAGGED_STAG,
                ACCESS,
                scene -> Frames.tagged(
                        Frames.WRITE,
                        true,
                        scene.staleKey,
                        scene.readWrite.region().address(),
                        new byte[8])));
        cases.add(one(
                "WRITE with a key one bit off",
                TAGGED_STAG,
                ACCESS,
                scene -> Frames.tagged(
                        Frames.WRITE,
                        true,
                        scene.readWrite.region().rkey() ^ 1,
                        scene.readWrite.region().address(),
                        new byte[8])));
        cases.add(one(
                "WRITE with an lkey",
                TAGGED_STAG,
                ACCESS,
                scene -> Frames.tagged(
                        Frames.WRITE,
                        true,
                        scene.readWrite.region().lkey(),
                        scene.readWrite.region().address(),
                        new byte[8])));
        cases.add(writeTo("another domain", TAGGED_DOMAIN, scene -> scene.otherDomain, 1));
        cases.add(writeTo("a region without REMOTE_WRITE", TAGGED_STAG, scene -> scene.readOnly, 1));
        cases.add(writeTo("a local region", TAGGED_STAG, scene -> scene.localOnly, 1));
    }

    private static Case write(String name, int code, long offset, int length) {
        return one(
                "WRITE " + name,
                code,
                ACCESS,
                scene -> Frames.tagged(
                        Frames.WRITE,
                        true,
                        scene.readWrite.region().rkey(),
                        scene.readWrite.region().address() + offset,
                        new byte[length]));
    }

    private static Case writeTo(String name, int code, Function<Scene, TestDevice.Guarded> target, int keyFactor) {
        return one(
                "WRITE to " + name,
                code,
                ACCESS,
                scene -> Frames.tagged(
                        Frames.WRITE,
                        true,
                        target.apply(scene).region().rkey() * keyFactor,
                        target.apply(scene).region().address(),
                        new byte[8]));
    }

    private static void readRequests(List<Case> cases) {
        cases.add(read("before the region", READ_BOUNDS, -1, 1));
        cases.add(read("across the beginning", READ_BOUNDS, -1, 2));
        cases.add(read("across the end", READ_BOUNDS, Scene.REGION_BYTES - 1, 2));
        cases.add(read("right behind the region", READ_BOUNDS, Scene.REGION_BYTES, 1));
        cases.add(read("longer than the region", READ_BOUNDS, 0, Scene.REGION_BYTES + 1));
        cases.add(read("of 4 GiB less 1", READ_BOUNDS, 0, 0xFFFF_FFFFL));
        cases.add(read("of 2 GiB", READ_BOUNDS, 0, 0x8000_0000L));
        for (long address : new long[] {-1, -2, -16}) {
            cases.add(one(
                    "READ that wraps from " + address,
                    READ_WRAP,
                    ACCESS,
                    scene -> Frames.readRequest(
                            1, 11, 12, 16, scene.readWrite.region().rkey(), address)));
        }
        cases.add(one(
                "READ before a zero-based region",
                READ_BOUNDS,
                ACCESS,
                scene -> Frames.readRequest(
                        1, 11, 12, 16, scene.zeroBased.region().rkey(), -100)));
        cases.add(one(
                "READ behind a zero-based region",
                READ_BOUNDS,
                ACCESS,
                scene -> Frames.readRequest(
                        1, 11, 12, 1, scene.zeroBased.region().rkey(), Scene.REGION_BYTES)));
        cases.add(readOf("stale key", READ_INVALID_STAG, scene -> scene.staleKey, scene -> scene.readWrite));
        cases.add(readOf("key 0", READ_INVALID_STAG, scene -> 0, scene -> scene.readWrite));
        cases.add(readOf(
                "lkey", READ_INVALID_STAG, scene -> scene.readWrite.region().lkey(), scene -> scene.readWrite));
        cases.add(readOf(
                "other domain", READ_DOMAIN, scene -> scene.otherDomain.region().rkey(), scene -> scene.otherDomain));
        cases.add(readOf(
                "no REMOTE_READ", READ_RIGHTS, scene -> scene.writeOnly.region().rkey(), scene -> scene.writeOnly));
        cases.add(readOf(
                "local region", READ_RIGHTS, scene -> scene.localOnly.region().rkey(), scene -> scene.localOnly));
        for (int msn : new int[] {0, 2, -1}) {
            cases.add(
                    one("READ request with MSN " + msn + " first", MSN_RANGE, PROTOCOL, scene -> goodRead(scene, msn)));
        }
        cases.add(many(
                        "READ request with MSN repeated",
                        MSN_RANGE,
                        PROTOCOL,
                        scene -> List.of(goodRead(scene, 1), goodRead(scene, 1)))
                .answers(1));
        cases.add(many(
                        "READ request with MSN skipped",
                        MSN_RANGE,
                        PROTOCOL,
                        scene -> List.of(goodRead(scene, 1), goodRead(scene, 3)))
                .answers(1));
        cases.add(one(
                "READ request with a message offset",
                MESSAGE_OFFSET,
                PROTOCOL,
                scene -> Frames.untagged(
                        Frames.READ_REQUEST, true, 1, 1, 28, TestBytes.slice(goodRead(scene, 1), 18, 46))));
        cases.add(one(
                "READ request that is not the last segment",
                UNSPECIFIED,
                PROTOCOL,
                scene -> Frames.untagged(
                        Frames.READ_REQUEST, false, 1, 1, 0, TestBytes.slice(goodRead(scene, 1), 18, 46))));
        for (int length : new int[] {0, 1, 27}) {
            cases.add(one(
                    "READ request of " + length + " bytes",
                    UNSPECIFIED,
                    PROTOCOL,
                    scene -> Frames.untagged(
                            Frames.READ_REQUEST, true, 1, 1, 0, TestBytes.slice(goodRead(scene, 1), 18, 18 + length))));
        }
        for (int more : new int[] {1, 4, 60_000}) {
            cases.add(one(
                    "READ request " + more + " bytes too long",
                    UNSPECIFIED,
                    PROTOCOL,
                    scene -> TestBytes.concat(goodRead(scene, 1), new byte[more])));
        }
        cases.add(many(
                        "one READ request more than granted",
                        NO_BUFFER,
                        PROTOCOL,
                        scene -> List.of(goodRead(scene, 1), goodRead(scene, 2), goodRead(scene, 3)))
                .answers(Scene.IRD));
        cases.add(many(
                        "good READ, then a bad one",
                        READ_BOUNDS,
                        ACCESS,
                        scene -> List.of(
                                goodRead(scene, 1),
                                Frames.readRequest(
                                        2, 11, 12, 16, scene.zeroBased.region().rkey(), Scene.REGION_BYTES)))
                .answers(1));
    }

    private static byte[] goodRead(Scene scene, int msn) {
        return Frames.readRequest(
                msn,
                11,
                12,
                16,
                scene.readWrite.region().rkey(),
                scene.readWrite.region().address() + 32);
    }

    private static Case read(String name, int code, long offset, long length) {
        return one(
                "READ " + name,
                code,
                ACCESS,
                scene -> Frames.readRequest(
                        1,
                        11,
                        12,
                        length,
                        scene.readWrite.region().rkey(),
                        scene.readWrite.region().address() + offset));
    }

    private static Case readOf(
            String name, int code, Function<Scene, Integer> key, Function<Scene, TestDevice.Guarded> target) {
        return one(
                "READ with " + name,
                code,
                ACCESS,
                scene -> Frames.readRequest(
                        1,
                        11,
                        12,
                        16,
                        key.apply(scene),
                        target.apply(scene).region().address()));
    }

    private static void readResponses(List<Case> cases) {
        cases.add(one(
                "READ response nobody asked for",
                RDMAP_OPCODE,
                PROTOCOL,
                scene -> Frames.tagged(Frames.READ_RESPONSE, true, sinkKey(scene), sinkAddress(scene), new byte[16])));
        cases.add(one(
                "empty READ response nobody asked for",
                RDMAP_OPCODE,
                PROTOCOL,
                scene -> Frames.tagged(Frames.READ_RESPONSE, true, sinkKey(scene), sinkAddress(scene))));
        cases.add(one(
                        "READ response with another STag",
                        TAGGED_STAG,
                        PROTOCOL,
                        scene -> Frames.tagged(
                                Frames.READ_RESPONSE,
                                true,
                                scene.readWrite.region().rkey(),
                                sinkAddress(scene),
                                new byte[Scene.REGION_BYTES]))
                .withRead());
        cases.add(one(
                        "READ response with the rkey of its sink",
                        TAGGED_STAG,
                        PROTOCOL,
                        scene -> Frames.tagged(
                                Frames.READ_RESPONSE,
                                true,
                                scene.sink.region().rkey(),
                                sinkAddress(scene),
                                new byte[Scene.REGION_BYTES]))
                .withRead());
        for (int offset : new int[] {-1, 1, 8}) {
            cases.add(one(
                            "READ response at offset " + offset,
                            TAGGED_BOUNDS,
                            PROTOCOL,
                            scene -> Frames.tagged(
                                    Frames.READ_RESPONSE,
                                    true,
                                    sinkKey(scene),
                                    sinkAddress(scene) + offset,
                                    new byte[Scene.REGION_BYTES]))
                    .withRead());
        }
        cases.add(one(
                        "READ response too long",
                        TAGGED_BOUNDS,
                        PROTOCOL,
                        scene -> Frames.tagged(
                                Frames.READ_RESPONSE,
                                true,
                                sinkKey(scene),
                                sinkAddress(scene),
                                new byte[Scene.REGION_BYTES + 1]))
                .withRead());
        cases.add(one(
                        "READ response ends early",
                        UNSPECIFIED,
                        PROTOCOL,
                        scene -> Frames.tagged(
                                Frames.READ_RESPONSE, true, sinkKey(scene), sinkAddress(scene), new byte[16]))
                .withRead());
        cases.add(one(
                        "READ response ends before its first byte",
                        UNSPECIFIED,
                        PROTOCOL,
                        scene -> Frames.tagged(Frames.READ_RESPONSE, true, sinkKey(scene), sinkAddress(scene)))
                .withRead());
        cases.add(one(
                        "READ response does not end",
                        UNSPECIFIED,
                        PROTOCOL,
                        scene -> Frames.tagged(
                                Frames.READ_RESPONSE,
                                false,
                                sinkKey(scene),
                                sinkAddress(scene),
                                new byte[Scene.REGION_BYTES]))
                .withRead());
        for (int offset : new int[] {0, 99, 101}) {
            cases.add(many(
                            "READ response goes on at offset " + offset + " not 100",
                            TAGGED_BOUNDS,
                            PROTOCOL,
                            scene -> List.of(
                                    Frames.tagged(
                                            Frames.READ_RESPONSE,
                                            false,
                                            sinkKey(scene),
                                            sinkAddress(scene),
                                            new byte[100]),
                                    Frames.tagged(
                                            Frames.READ_RESPONSE,
                                            true,
                                            sinkKey(scene),
                                            sinkAddress(scene) + offset,
                                            new byte[Scene.REGION_BYTES - 100])))
                    .withRead());
        }
    }

    private static int sinkKey(Scene scene) {
        return scene.sink.region().lkey();
    }

    private static long sinkAddress(Scene scene) {
        return scene.sink.region().address();
    }

    /** Each case everywhere; in a sample, in one place in turn. */
    static Stream<Arguments> everywhere() {
        List<Case> cases = cases();
        return IntStream.range(0, cases.size()).boxed().flatMap(i -> places(cases.get(i), i));
    }

    private static Stream<Arguments> places(Case one, int number) {
        // The CRC is no business of the transport.
        List<Arguments> all = List.of(
                Arguments.of(one, "epoll", false),
                Arguments.of(one, "epoll", true),
                Arguments.of(one, "uring", false),
                Arguments.of(one, "uring", true),
                Arguments.of(one, "nio", false));
        return SAMPLE == 1 ? all.stream() : Stream.of(all.get(number % all.size()));
    }

    @Tag("sampled")
    @ParameterizedTest(name = "{0}, {1}, crc={2}")
    @MethodSource("everywhere")
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldTerminateThatConnectionAlone(Case broken, String transport, boolean crc) throws Exception {
        try (Scene scene = new Scene(transport, crc, broken.receives())) {
            if (broken.readPosted()) {
                scene.postRead();
            }
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();
            byte[][] segments = broken.segments().apply(scene).toArray(byte[][]::new);
            byte[] wrong = segments[segments.length - 1];

            scene.peer.send(segments);

            for (int i = 0; i < broken.answers(); i++) {
                scene.peer.expect(
                        Frames.tagged(Frames.READ_RESPONSE, true, 11, 12, scene.readWrite.bytes(32, 16)),
                        "READ response before the Terminate");
            }
            scene.peer.expect(
                    Frames.terminate(
                            broken.code(),
                            wrong,
                            broken.headers() != Headers.NONE,
                            broken.headers() == Headers.DDP_AND_READ),
                    "Terminate");
            scene.peer.expectEnd();

            Map<String, Long> increments = Map.of(broken.counter(), 1L, "terminatesSent", 1L, "connectionsClosed", 1L);
            scene.server.awaitTrouble(before, increments);
            scene.expectEnded(statuses(scene, broken));
            scene.expectMemoryUntouched();
            scene.bystander.finish();
            scene.server.awaitTrouble(before, increments);
        }
    }

    private static Map<Long, CompletionStatus> statuses(Scene scene, Case broken) {
        Map<Long, CompletionStatus> statuses = new TreeMap<>(scene.allFlushed(broken.readPosted()));
        for (int i = 0; i < broken.succeeded(); i++) {
            statuses.put(Scene.FIRST_RECV_WR + i, CompletionStatus.SUCCESS);
        }
        if (broken.code() == TOO_LONG) {
            statuses.put(Scene.FIRST_RECV_WR, CompletionStatus.LOCAL_LENGTH_ERROR);
        }
        if (broken.code() == CANNOT_INVALIDATE) {
            statuses.put(Scene.FIRST_RECV_WR, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        }
        assertEquals(broken.receives() + (broken.readPosted() ? 1 : 0), statuses.size());
        return statuses;
    }
}
