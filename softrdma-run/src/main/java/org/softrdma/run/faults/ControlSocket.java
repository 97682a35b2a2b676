package org.softrdma.run.faults;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.lang.System.Logger.Level;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.function.Function;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.fault.Fault;

/**
 * A Unix socket at a path, by which its owner changes faults while a program runs. A line is a command:
 *
 * <pre>
 *   add FAULT      a fault as in a plan, on one line: "added 3"
 *   remove NUMBER  "removed 3"
 *   list           a line for each, then "2 faults"
 *   clear          takes all away, and what they have done to the card: "cleared"
 * </pre>
 *
 * <p>What is none of these is answered with "error: " and a sentence, and so is who is not the owner. Each connection has a thread.
 */
public final class ControlSocket implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ControlSocket.class.getName());
    private static final int LONGEST_LINE = 64 * 1024;
    private static final String EXPECTED = "expected add FAULT, remove NUMBER, list or clear";

    private final CardFaults faults;
    private final Function<String, Fault> reader;
    private final Path path;
    private final UserPrincipal owner;
    private final ServerSocketChannel listening;

    private ControlSocket(
            CardFaults faults,
            Function<String, Fault> reader,
            Path path,
            UserPrincipal owner,
            ServerSocketChannel listening) {
        this.faults = faults;
        this.reader = reader;
        this.path = path;
        this.owner = owner;
        this.listening = listening;
    }

    /**
     * Listens.
     *
     * @param path where; a socket there that nobody listens at is replaced
     * @param reader makes a fault of its text, or throws IllegalArgumentException
     * @throws IOException if it cannot be there
     */
    public static ControlSocket open(Path path, CardFaults faults, Function<String, Fault> reader) throws IOException {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(path);
        if (isLeft(address)) {
            Files.deleteIfExists(path);
        }
        ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            ServerSocketChannel bound = listening.bind(address);
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            ControlSocket made = new ControlSocket(faults, reader, path, Files.getOwner(path), bound);
            Thread.ofVirtual().name("control").start(made::acceptAll);
            return made;
        } catch (IOException | RuntimeException e) {
            listening.close();
            throw e;
        }
    }

    /** Whether a process that was killed has left it. */
    private static boolean isLeft(UnixDomainSocketAddress address) {
        if (!Files.exists(address.getPath())
                || Files.isRegularFile(address.getPath())
                || Files.isDirectory(address.getPath())) {
            return false;
        }
        try (SocketChannel trial = SocketChannel.open(address)) {
            return !trial.isConnected();
        } catch (IOException e) {
            return true;
        }
    }

    private void acceptAll() {
        try {
            while (true) {
                SocketChannel accepted = listening.accept();
                Thread.ofVirtual().start(() -> serve(accepted));
            }
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "no more commands at " + path, e); // closed
        }
    }

    private void serve(SocketChannel accepted) {
        try (accepted;
                Writer answers = Channels.newWriter(accepted, StandardCharsets.UTF_8);
                InputStream commands = new BufferedInputStream(Channels.newInputStream(accepted))) {
            boolean allowed = owner.equals(
                    accepted.getOption(ExtendedSocketOptions.SO_PEERCRED).user());
            for (String line = line(commands); line != null; line = line(commands)) {
                answers.write(
                        (allowed ? answer(line) : "error: only " + owner.getName() + " may change faults here") + "\n");
                answers.flush();
            }
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "a connection to " + path + " has ended", e);
        }
    }

    /** The next line, or so much of one that is too long that this can be seen; null at the end. */
    private static @Nullable String line(InputStream commands) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int next = commands.read();
        while (next >= 0 && next != '\n') {
            if (bytes.size() <= LONGEST_LINE) {
                bytes.write(next);
            }
            next = commands.read();
        }
        return next < 0 && bytes.size() == 0
                ? null
                : bytes.toString(StandardCharsets.UTF_8).strip();
    }

    /** Does what a line says; the answer. */
    private String answer(String line) {
        if (line.length() > LONGEST_LINE) {
            return "error: expected lines of at most " + LONGEST_LINE + " characters";
        }
        String[] words = line.split("\\s+", 2);
        String rest = words.length == 1 ? "" : words[1];
        try {
            return switch (words[0]) {
                case "add" -> "added " + faults.add(reader.apply(rest));
                case "remove" -> remove(rest);
                case "list" -> list(rest);
                case "clear" -> clear(rest);
                default -> "error: " + EXPECTED + ", not \"" + line + "\"";
            };
        } catch (IllegalArgumentException e) {
            return "error: " + e.getMessage();
        }
    }

    private String remove(String number) {
        boolean known;
        try {
            known = faults.remove(Integer.parseInt(number));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("expected the number of a fault, not \"" + number + "\"", e);
        }
        if (!known) {
            throw new IllegalArgumentException("there is no fault " + number + "; list shows those that there are");
        }
        return "removed " + number;
    }

    private String list(String rest) {
        requireNothing(rest);
        List<String> all = faults.list();
        return String.join("\n", all) + (all.isEmpty() ? "" : "\n") + all.size() + " faults";
    }

    private String clear(String rest) {
        requireNothing(rest);
        faults.clear();
        return "cleared";
    }

    private static void requireNothing(String rest) {
        if (!rest.isEmpty()) {
            throw new IllegalArgumentException(EXPECTED + "; nothing follows the last two, but \"" + rest + "\" came");
        }
    }

    /** Takes it away. */
    @Override
    public void close() {
        try {
            listening.close();
            boolean ignored = Files.deleteIfExists(path);
        } catch (IOException e) {
            LOG.log(Level.WARNING, path + " is left", e);
        }
    }
}
