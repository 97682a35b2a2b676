package org.softrdma.sim.samehost;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import org.softrdma.net.kernel.ProcFile;
import org.softrdma.net.kernel.SocketDiagnosis;

/**
 * Finds out whether a process holds the connecting end of a TCP connection: the kernel says which socket that is, and
 * which descriptors the process has (/proc/PID/fd). Nothing that the process says is believed.
 *
 * <p>A process with a thousand connections is asked about a thousand times. So the kernel is asked for the one socket
 * first, and for its whole table (/proc/net/tcp) only if it does not answer; and descriptors are looked at from where the
 * last one was found. One thread at a time.
 */
final class SocketOwner {
    private static final int LOCAL = 1;
    private static final int REMOTE = 2;
    private static final int INODE = 9;
    private static final int WORDS = 4;
    private static final int HEX = 16;

    /** Descriptors that a client may open between two connections. */
    private static final int NEAR = 16;

    private int lastFound;

    SocketOwner() {}

    /** True if the process has a descriptor of the connecting end. */
    boolean holds(int process, TcpEnds ends) {
        OptionalLong inode = inode(ends);
        return inode.isPresent() ? hasSocket(process, inode.getAsLong()) : holdsByTable(process, ends);
    }

    /** The inode of the connecting end, if the kernel answers about one socket. */
    static OptionalLong inode(TcpEnds ends) {
        return SocketDiagnosis.inode(
                ends.clientHigh(),
                ends.clientLow(),
                ends.clientPort(),
                ends.serverHigh(),
                ends.serverLow(),
                ends.serverPort());
    }

    /** As {@link #holds}, where the kernel does not answer about one socket. */
    boolean holdsByTable(int process, TcpEnds ends) {
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            OptionalLong inode = inode(ProcFile.lines(table), ends);
            if (inode.isPresent()) {
                return hasSocket(process, inode.getAsLong());
            }
        }
        return false;
    }

    /** The inode of the connecting end in the lines of a table of the kernel. */
    static OptionalLong inode(List<String> lines, TcpEnds ends) {
        String client = String.format("%04X", ends.clientPort());
        for (String line : lines) {
            if (!line.contains(client)) {
                continue; // most lines
            }
            String[] words = line.trim().split("\\s+", INODE + 2);
            if (words.length > INODE
                    && is(words[LOCAL], ends.clientHigh(), ends.clientLow(), ends.clientPort())
                    && is(words[REMOTE], ends.serverHigh(), ends.serverLow(), ends.serverPort())
                    && !words[INODE].equals("0")) {
                return OptionalLong.of(Long.parseLong(words[INODE]));
            }
        }
        return OptionalLong.empty();
    }

    /** An address as the kernel writes it: words of 32 bits in network order, printed as numbers of this machine. */
    private static boolean is(String text, long high, long low, int port) {
        int colon = text.indexOf(':');
        if (colon < 0 || Integer.parseInt(text.substring(colon + 1), HEX) != port) {
            return false;
        }
        byte[] printed = HexFormat.of().parseHex(text.substring(0, colon));
        ByteBuffer whole = ByteBuffer.allocate(WORDS * Integer.BYTES);
        if (printed.length == Integer.BYTES) {
            whole.putInt(0).putInt(0).putInt(0xFFFF);
        }
        ByteBuffer words = ByteBuffer.wrap(printed);
        while (words.hasRemaining()) {
            int word = words.getInt();
            whole.putInt(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Integer.reverseBytes(word) : word);
        }
        whole.flip();
        return whole.getLong() == high && whole.getLong() == low;
    }

    private boolean hasSocket(int process, long inode) {
        String wanted = "socket:[" + inode + "]";
        Path all = Path.of("/proc/" + process + "/fd");
        for (int number = lastFound; number < lastFound + NEAR; number++) {
            if (isLinkTo(all.resolve(Integer.toString(number)), wanted)) {
                lastFound = number;
                return true;
            }
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(all)) {
            for (Path file : files) {
                if (isLinkTo(file, wanted)) {
                    lastFound = Integer.parseInt(file.getFileName().toString());
                    return true;
                }
            }
        } catch (IOException e) {
            return false; // the process is gone, or lets nobody look
        }
        return false;
    }

    private static boolean isLinkTo(Path file, String wanted) {
        try {
            return Files.readSymbolicLink(file).toString().equals(wanted);
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }
}
