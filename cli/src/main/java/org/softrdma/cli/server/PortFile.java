package org.softrdma.cli.server;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Collectors;
import org.softrdma.cli.command.UserErrorException;

/**
 * The file that memcached writes its ports to where {@link #VARIABLE} is set, a line {@code TCP INET: 11211} for each:
 * how test suites of clients find a server that was started with {@code -p -1}. No state.
 */
final class PortFile {
    /** The environment variable with its name. */
    static final String VARIABLE = "MEMCACHED_PORT_FILENAME";

    private PortFile() {}

    /**
     * Writes it; whoever finds the file finds all of it.
     *
     * @param file its name
     * @param addresses that the server listens on
     */
    static void write(Path file, List<InetSocketAddress> addresses) {
        String lines = addresses.stream()
                .map(each -> "TCP " + (each.getAddress() instanceof Inet6Address ? "INET6: " : "INET: ")
                        + each.getPort() + "\n")
                .collect(Collectors.joining());
        try {
            Path unfinished = file.resolveSibling(file.getFileName() + ".lck");
            Files.writeString(unfinished, lines);
            Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UserErrorException(VARIABLE + "=" + file + ": cannot write the file: " + e.getMessage(), e);
        }
    }
}
