package org.softrdma.kv.server;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.binary.AnswerFrame;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.server.host.Wildcards;
import org.softrdma.kv.server.session.ClientRules;
import org.softrdma.kv.server.session.DiagnosisSettings;

/**
 * Configuration of a {@link KvServer}: who may connect and what clients may do; with {@link ItemSettings},
 * {@link ServerTimeouts} and {@link ServerEnvironment}. Filled by setters, checked and frozen by {@link #conclude()}. Not
 * thread-safe.
 */
public final class KvServerContext {
    private static final Logger LOG = LoggerFactory.getLogger(KvServerContext.class);

    /** memcached's default port. */
    public static final int DEFAULT_PORT = 11211;

    /** memcached's default number of threads. */
    public static final int DEFAULT_THREADS = 4;

    /** memcached's default number of connections. */
    public static final int DEFAULT_MAX_CONNECTIONS = 1024;

    /** memcached's default length of the queue of connections that nobody has accepted yet. */
    public static final int DEFAULT_BACKLOG = 1024;

    /** memcached's default rights of a Unix socket, 0700. */
    public static final int DEFAULT_UNIX_SOCKET_MASK = 0700;

    /** The memcached version whose behaviour this server implements; clients read it from the version. */
    public static final String MEMCACHED_VERSION = "1.6.18";

    /** The longest version. */
    private static final int MAX_VERSION_LENGTH = AnswerFrame.MOST_WORDS;

    private List<InetSocketAddress> memcachedAddresses = List.of();
    private Set<InetSocketAddress> clearAddresses = Set.of();
    private @Nullable InetAddress rdmaAddress;
    private int rdmaPort;
    private int threads = DEFAULT_THREADS;
    private int maxConnections = DEFAULT_MAX_CONNECTIONS;
    private PortSettings.Io io = PortSettings.Io.AUTO;
    private boolean flushAllowed = true;
    private int backlog = DEFAULT_BACKLOG;
    private int verbosity;
    private @Nullable Path unixSocket;
    private int unixSocketMask = DEFAULT_UNIX_SOCKET_MASK;
    private @Nullable Runnable shutdown;
    private @Nullable LongConsumer moveClock;
    private @Nullable Passwords passwords;
    private int requestsPerTurn;
    private String version = MEMCACHED_VERSION + "-softrdma";
    private ClientRules.Protocol protocol = ClientRules.Protocol.AUTO;
    private boolean sasl;
    private @Nullable TlsSettings tls;
    private DiagnosisSettings diagnosis = DiagnosisSettings.DEFAULT;
    private Consumer<Throwable> fatalErrors = cause -> LOG.error("a thread of the server has failed", cause);
    private final SettingsLock lock = new SettingsLock();
    private final ItemSettings items = new ItemSettings(lock);
    private ServerTimeouts timeouts = ServerTimeouts.DEFAULT;
    private ServerEnvironment environment = new ServerEnvironment();

    /** The defaults. */
    public KvServerContext() {}

    /**
     * Changes the settings of items and their memory.
     *
     * @param change sets what is to differ from the defaults
     */
    public KvServerContext items(Consumer<ItemSettings> change) {
        change.accept(items);
        return this;
    }

    /** The settings of items and their memory. */
    public ItemSettings items() {
        return items;
    }

    /**
     * Changes how long the server waits for clients.
     *
     * @param change makes the new times of the present ones
     */
    public KvServerContext timeouts(UnaryOperator<ServerTimeouts> change) {
        timeouts = lock.changed(change.apply(timeouts));
        return this;
    }

    /** How long the server waits for clients. */
    public ServerTimeouts timeouts() {
        return timeouts;
    }

    /**
     * Changes what the server uses of its host.
     *
     * @param change makes the new environment of the present one
     */
    public KvServerContext environment(UnaryOperator<ServerEnvironment> change) {
        environment = lock.changed(change.apply(environment));
        return this;
    }

    /** What the server uses of its host. */
    public ServerEnvironment environment() {
        return environment;
    }

    /** Sets where memcached clients connect; port 0 picks a free one. */
    public KvServerContext memcachedAddress(InetSocketAddress address) {
        return memcachedAddresses(List.of(address));
    }

    /**
     * Sets several places where memcached clients connect; port 0 picks a free one. Queue pairs are connected at the
     * first address.
     *
     * @param addresses at least one
     */
    public KvServerContext memcachedAddresses(List<InetSocketAddress> addresses) {
        memcachedAddresses = lock.changed(List.copyOf(addresses));
        return this;
    }

    /**
     * Sets at which of the memcached addresses {@link #tls} does not encrypt.
     *
     * @param addresses none unless set
     */
    public KvServerContext clearAddresses(Set<InetSocketAddress> addresses) {
        clearAddresses = lock.changed(Set.copyOf(addresses));
        return this;
    }

    /**
     * Changes what clients may see of the items and of each other.
     *
     * @param change makes the new settings of the present ones
     */
    public KvServerContext diagnosis(UnaryOperator<DiagnosisSettings> change) {
        diagnosis = lock.changed(change.apply(diagnosis));
        return this;
    }

    /** What clients may see of the items and of each other. */
    public DiagnosisSettings diagnosis() {
        return diagnosis;
    }

    /**
     * Sets the address where queue pairs are connected. Unless set, they are the addresses of the memcached port; with a
     * Unix socket, and no address set for that port, it is the loopback address: clients that may not open the socket
     * must not get in over the network.
     */
    public KvServerContext rdmaAddress(InetAddress address) {
        rdmaAddress = lock.changed(address);
        return this;
    }

    /** The first of {@link #rdmaAddresses()}. */
    public InetAddress rdmaAddress() {
        return rdmaAddresses().getFirst();
    }

    /**
     * The addresses where queue pairs are connected, none of them part of another one. {@code ::} means both families if
     * memcached clients come to {@code 0.0.0.0}, too, and otherwise IPv6 alone.
     */
    public List<InetAddress> rdmaAddresses() {
        if (rdmaAddress != null) {
            return List.of(rdmaAddress);
        }
        if (unixSocket != null && memcachedAddresses.isEmpty()) {
            return List.of(InetAddress.getLoopbackAddress());
        }
        if (isListenedOn(Wildcards.IPV6)) {
            return List.of(Wildcards.IPV6);
        }
        boolean allIpv4 = isListenedOn(Wildcards.IPV4);
        return port().addresses().stream()
                .map(InetSocketAddress::getAddress)
                .filter(each -> !allIpv4 || each.equals(Wildcards.IPV4) || each instanceof Inet6Address)
                .distinct()
                .toList();
    }

    /** True if {@link #rdmaAddresses()} are {@code ::}, and IPv4 is not meant. */
    public boolean isRdmaIpv6Only() {
        return rdmaAddress().equals(Wildcards.IPV6) && !isListenedOn(Wildcards.IPV4);
    }

    private boolean isListenedOn(InetAddress address) {
        return port().addresses().stream().anyMatch(each -> address.equals(each.getAddress()));
    }

    /** Where memcached clients connect, unless set otherwise on every address, and how. */
    public PortSettings port() {
        List<InetSocketAddress> addresses =
                memcachedAddresses.isEmpty() ? Wildcards.everywhere(DEFAULT_PORT) : memcachedAddresses;
        return new PortSettings(addresses, clearAddresses, unixSocket, unixSocketMask, backlog, threads, io, tls);
    }

    /** Sets the port where queue pairs are connected, on {@link #rdmaAddresses()}; 0 (the default) picks a free one. */
    public KvServerContext rdmaPort(int port) {
        rdmaPort = lock.changed(port);
        return this;
    }

    /** The port where queue pairs are connected. */
    public int rdmaPort() {
        return rdmaPort;
    }

    /**
     * Sets the number of event loop threads.
     *
     * @param count 1 to 1024
     */
    public KvServerContext threads(int count) {
        threads = lock.changed(count);
        return this;
    }

    /**
     * Sets the limit for memcached connections, which is also the limit for queue pairs.
     *
     * @param count at least 1
     */
    public KvServerContext maxConnections(int count) {
        maxConnections = lock.changed(count);
        return this;
    }

    /** How many memcached connections there may be. */
    public int maxConnections() {
        return maxConnections;
    }

    /**
     * Sets how the memcached port does its I/O.
     *
     * @param choice which
     */
    public KvServerContext io(PortSettings.Io choice) {
        io = lock.changed(choice);
        return this;
    }

    /**
     * Sets whether clients may flush.
     *
     * @param allowed memcached's -F is false
     */
    public KvServerContext flushAllowed(boolean allowed) {
        flushAllowed = lock.changed(allowed);
        return this;
    }

    /** Whether clients may flush. */
    public boolean flushAllowed() {
        return flushAllowed;
    }

    /**
     * Sets how many connections may wait to be accepted.
     *
     * @param length at least 1
     */
    public KvServerContext backlog(int length) {
        backlog = lock.changed(length);
        return this;
    }

    /**
     * Sets the level of verbosity that {@code stats settings} shows at first.
     *
     * @param level 0 or more
     */
    public KvServerContext verbosity(int level) {
        verbosity = lock.changed(level);
        return this;
    }

    /** The first level of verbosity. */
    public int verbosity() {
        return verbosity;
    }

    /**
     * Sets a Unix socket where memcached clients connect instead of the TCP port; a socket file of that name that
     * nobody listens on is replaced.
     *
     * @param path its file
     * @param mask its rights, such as 0700
     */
    public KvServerContext unixSocket(Path path, int mask) {
        unixSocket = lock.changed(path);
        unixSocketMask = mask;
        return this;
    }

    /**
     * Lets clients stop the server by the shutdown command.
     *
     * @param stop called by a thread of the server; must not wait for the server
     */
    public KvServerContext shutdown(Runnable stop) {
        shutdown = lock.changed(stop);
        return this;
    }

    /** What the shutdown command does, or null if it does nothing. */
    public @Nullable Runnable shutdown() {
        return shutdown;
    }

    /**
     * Lets clients move the clock by the debugtime command: for tests.
     *
     * @param seconds takes by how many; called by any thread
     */
    public KvServerContext moveClock(LongConsumer seconds) {
        moveClock = lock.changed(seconds);
        return this;
    }

    /** What the debugtime command does, or null if there is no such command. */
    public @Nullable LongConsumer moveClock() {
        return moveClock;
    }

    /**
     * Admits only clients that send a user's password first. The clients of this project cannot do that.
     *
     * @param users the users and their passwords
     */
    public KvServerContext passwords(Passwords users) {
        passwords = lock.changed(users);
        return this;
    }

    /** The users that may log in, or null if no login is needed. */
    public @Nullable Passwords passwords() {
        return passwords;
    }

    /**
     * Sets which protocols memcached clients may speak, memcached's -B.
     *
     * @param choice both unless set
     */
    public KvServerContext protocol(ClientRules.Protocol choice) {
        protocol = lock.changed(choice);
        return this;
    }

    /** Which protocols clients may speak: with passwords, but without SASL, the text protocol only. */
    public ClientRules.Protocol protocol() {
        return passwords != null && !sasl && protocol == ClientRules.Protocol.AUTO
                ? ClientRules.Protocol.ASCII
                : protocol;
    }

    /**
     * Lets clients of the binary protocol log in by SASL PLAIN, memcached's -S, with the passwords of {@link
     * #passwords(Passwords)}.
     *
     * @param on true for that
     */
    public KvServerContext sasl(boolean on) {
        sasl = lock.changed(on);
        return this;
    }

    /** Whether clients of the binary protocol log in by SASL. */
    public boolean sasl() {
        return sasl;
    }

    /**
     * Encrypts the TCP ports but {@link #clearAddresses}, memcached's -Z. What clients READ is not encrypted.
     *
     * @param settings certificates and what clients must show
     */
    public KvServerContext tls(TlsSettings settings) {
        tls = lock.changed(settings);
        return this;
    }

    /**
     * Sets after how many requests a connection yields to the others of its thread (memcached's -R).
     *
     * @param count 0 (the default) for no limit: it yields when it has executed all requests of one read
     */
    public KvServerContext requestsPerTurn(int count) {
        requestsPerTurn = lock.changed(count);
        return this;
    }

    /** After how many requests a connection yields, 0 for no such limit. */
    public int requestsPerTurn() {
        return requestsPerTurn;
    }

    /**
     * Sets what the version command answers.
     *
     * @param text without blanks
     */
    public KvServerContext version(String text) {
        version = lock.changed(text);
        return this;
    }

    /** What the version command answers. */
    public String version() {
        return version;
    }

    /**
     * Sets what happens when a thread of the server fails with an {@link Error} or ends. The server cannot recover from
     * that. By default it is only logged.
     *
     * @param errors gets the cause, on any thread, possibly when memory is exhausted; see {@link ProcessEnd}
     */
    public KvServerContext fatalErrors(Consumer<Throwable> errors) {
        fatalErrors = lock.changed(errors);
        return this;
    }

    /** What happens when a thread of the server has failed. */
    public Consumer<Throwable> fatalErrors() {
        return fatalErrors;
    }

    /**
     * Checks everything and freezes this.
     *
     * @throws IllegalArgumentException if a setting is wrong; the message lists all errors
     */
    public KvServerContext conclude() {
        List<String> faults = new ArrayList<>();
        SettingsLock.check(faults, "rdmaPort", rdmaPort, 0, 65535);
        SettingsLock.check(faults, "threads", threads, 1, 1024);
        SettingsLock.check(faults, "maxConnections", maxConnections, 1, 1_000_000);
        SettingsLock.check(faults, "backlog", backlog, 1, 65535);
        SettingsLock.check(faults, "requestsPerTurn", requestsPerTurn, 0, Integer.MAX_VALUE);
        SettingsLock.check(faults, "unixSocketMask", unixSocketMask, 0, 0777);
        items.check(faults);
        for (InetSocketAddress address : port().addresses()) {
            if (address.isUnresolved()) {
                faults.add("memcachedAddress=" + address + ": unknown host");
            }
        }
        checkProtocol(faults);
        if (version.isBlank()
                || version.length() > MAX_VERSION_LENGTH
                || version.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            faults.add("version=\"" + version + "\": empty, too long, or with blanks");
        }
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", faults));
        }
        lock.conclude();
        return this;
    }

    private void checkProtocol(List<String> faults) {
        if (sasl && passwords == null) {
            faults.add("sasl (-S): expected passwords (-Y)");
        }
        if (sasl && protocol == ClientRules.Protocol.ASCII) {
            faults.add("protocol (-B) " + protocol + ": expected AUTO or BINARY with sasl (-S)");
        }
        if (!sasl && passwords != null && protocol == ClientRules.Protocol.BINARY) {
            faults.add("protocol (-B) " + protocol + ": expected sasl (-S), by which its clients log in");
        }
        if (tls != null && unixSocket != null) {
            faults.add("tls (-Z): expected a TCP port, not the Unix socket " + unixSocket);
        }
    }
}
