package org.softrdma.bench.study;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.measurement.DeviceFactory;

/**
 * What the study needs from {@code main}.
 *
 * @param devices opens the devices of the load
 * @param provider name of the provider, for the report
 * @param server the command that runs {@code softrdma server} on the same provider
 * @param otherServer the command that runs {@code softrdma server} of another build; empty if none is compared
 * @param store the command that runs {@code softrdma store} on the same provider
 * @param engineThreadsOption the device option that says how many engine threads there are; empty if there is none
 * @param epollOption the device option, with its value, that makes a server use epoll; empty if there is none, or if it
 *     was chosen otherwise
 * @param hosts where servers listen that are started here
 * @param remote servers that run elsewhere; null to start servers here
 * @param nativeSources where the sources of the C floor are
 * @param searchPath where programs are looked for, as in {@code PATH}
 * @param machine what the study runs on
 * @param out where the table goes
 * @param progress told what happens
 */
public record StudySetup(
        DeviceFactory devices,
        String provider,
        List<String> server,
        List<String> otherServer,
        List<String> store,
        Optional<String> engineThreadsOption,
        Optional<String> epollOption,
        LoopbackHosts hosts,
        @Nullable Remote remote,
        Path nativeSources,
        String searchPath,
        MachineDescription machine,
        PrintWriter out,
        Progress progress) {
    /** Copies the lists. */
    public StudySetup {
        server = List.copyOf(server);
        otherServer = List.copyOf(otherServer);
        store = List.copyOf(store);
    }

    /**
     * Servers that run elsewhere.
     *
     * @param softrdma memcached port of a {@code softrdma server}
     * @param memcached port of a memcached; null for none
     */
    public record Remote(
            InetSocketAddress softrdma, @Nullable InetSocketAddress memcached) {}

    /** Told what happens while the study runs. */
    public interface Progress {
        /**
         * Something happened.
         *
         * @param line one line for people
         */
        void say(String line);

        /**
         * Measuring begins.
         *
         * @param steps how many there will be
         */
        void begin(int steps);

        /**
         * One step is done.
         *
         * @param what it is, a few words
         */
        void step(String what);

        /** Measuring is over, or has failed. */
        void end();
    }

    /** An address for people. */
    public static String text(InetSocketAddress address) {
        return address.getHostString() + ":" + address.getPort();
    }

    /** What GETs go over. */
    public String network() {
        return remote == null || remote.softrdma().getAddress().isLoopbackAddress()
                ? "loopback"
                : "TCP to " + text(remote.softrdma());
    }
}
