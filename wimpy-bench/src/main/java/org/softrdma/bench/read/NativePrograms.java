package org.softrdma.bench.read;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.measurement.MeasurementException;

/** The C baselines of wimpy-bench/native, compiled when a program is missing or older than its sources. */
public final class NativePrograms {
    private static final long COMPILE_SECONDS = 120;
    private static final List<String> HEADERS = List.of("iwarp.h", "responder.h", "read_batch.h");
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String RING_RESPONDER = "read_responder_uring";
    private static final String ROCE_RESPONDER = "roce_responder";

    private final Path readResponder;
    private final Path sources;
    private final Path output;
    private final Path messageResponder;
    private final Path pingPong;
    private final Path sharedCopy;

    private NativePrograms(
            Path sources, Path output, Path readResponder, Path messageResponder, Path pingPong, Path sharedCopy) {
        this.sources = sources;
        this.output = output;
        this.readResponder = readResponder;
        this.messageResponder = messageResponder;
        this.pingPong = pingPong;
        this.sharedCopy = sharedCopy;
    }

    /**
     * Finds or compiles them.
     *
     * @param sources directory of the C sources
     * @param output directory for the programs, made when needed
     * @throws MeasurementException with one sentence if there is no compiler or no source
     */
    public static NativePrograms prepare(Path sources, Path output) {
        return new NativePrograms(
                sources,
                output,
                prepare(sources, output, "read_responder"),
                prepare(sources, output, "message_responder"),
                prepare(sources, output, "ping_pong"),
                prepare(sources, output, "shared_copy"));
    }

    /**
     * A responder that can be started.
     *
     * @param command starts it
     * @param host the address that it listens on
     */
    public record Responder(List<String> command, InetAddress host) {}

    /** The READ responder, of the wire that servers on some hosts speak. */
    public Responder readResponder(LoopbackHosts hosts) {
        if (hosts.rocePort().isEmpty()) {
            return overTcp(readResponder);
        }
        InetAddress host = hosts.next();
        return new Responder(
                List.of(
                        prepare(sources, output, ROCE_RESPONDER).toString(),
                        "--address",
                        host.getHostAddress(),
                        "--udp-port",
                        Integer.toString(hosts.rocePort().getAsInt())),
                host);
    }

    private static Responder overTcp(Path program) {
        return new Responder(List.of(program.toString()), InetAddress.getLoopbackAddress());
    }

    /**
     * The READ responder by io_uring. It may not run here though it compiles: it says so when it is started.
     *
     * @throws MeasurementException if it does not compile: the machine's headers do not know io_uring; or if there is none
     */
    public Responder ringResponder(LoopbackHosts hosts) {
        requireTcp(hosts, "by io_uring");
        return overTcp(prepare(sources, output, RING_RESPONDER));
    }

    /**
     * The responder of WRITEs and SENDs.
     *
     * @throws MeasurementException if there is none on the wire
     */
    public Responder messageResponder(LoopbackHosts hosts) {
        requireTcp(hosts, "of WRITEs and SENDs");
        return overTcp(messageResponder);
    }

    private static void requireTcp(LoopbackHosts hosts, String what) {
        if (hosts.rocePort().isPresent()) {
            throw new MeasurementException("on wire=roce there is no C baseline " + what + ", only one of READs");
        }
    }

    /** The round trip over plain TCP. */
    public Path pingPong() {
        return pingPong;
    }

    /** Both ends of READs in both directions of one connection. */
    public Path readExchange() {
        return prepare(sources, output, "read_exchange");
    }

    /** Copies of another process's memory on this host. */
    public Path sharedCopy() {
        return sharedCopy;
    }

    /**
     * Runs one of them, which prints its results as one line of JSON and ends.
     *
     * @param name for messages
     * @param command with what is put before it
     * @param timeoutSeconds how long it may take
     * @throws MeasurementException if it does not print any
     */
    public static JsonNode run(String name, List<String> command, long timeoutSeconds) {
        try (Child child = Child.start(name, command)) {
            return MAPPER.readTree(child.nextLine(timeoutSeconds));
        } catch (JsonProcessingException e) {
            throw new MeasurementException(name + " printed something that is not JSON: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new MeasurementException(e.getMessage() == null ? e.toString() : e.getMessage(), e);
        }
    }

    private static Path prepare(Path sources, Path output, String name) {
        Path source = sources.resolve(name + ".c");
        Path program = output.resolve(name);
        if (!Files.isReadable(source)) {
            throw new MeasurementException(
                    "missing C baseline " + source + ": run from a clone, or name its directory with --native-sources");
        }
        try {
            if (!Files.isExecutable(program) || isOlder(program, source) || isOlderThanHeaders(program, sources)) {
                Files.createDirectories(output);
                compile(source, program);
            }
        } catch (IOException e) {
            throw new MeasurementException(
                    "cannot compile the C baseline " + name + ": no C compiler 'cc' (" + e.getMessage()
                            + "); install gcc",
                    e);
        }
        return program;
    }

    private static boolean isOlderThanHeaders(Path program, Path sources) throws IOException {
        for (String header : HEADERS) {
            if (isOlder(program, sources.resolve(header))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOlder(Path program, Path source) throws IOException {
        FileTime built = Files.getLastModifiedTime(program);
        return Files.exists(source) && built.compareTo(Files.getLastModifiedTime(source)) < 0;
    }

    private static void compile(Path source, Path program) throws IOException {
        List<String> command = List.of("cc", "-O2", "-std=gnu11", "-o", program.toString(), source.toString());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (!process.waitFor(COMPILE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new MeasurementException(String.join(" ", command) + " did not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasurementException("interrupted", e);
        }
        if (process.exitValue() != 0) {
            throw new MeasurementException(String.join(" ", command) + " failed:\n" + said.trim());
        }
    }
}
