package org.softrdma.cli.server;

import java.util.List;

/** The option letters of memcached 1.6.18, and what becomes of each. The reference is generated from this list. */
enum MemcachedOption {
    PORT("-p, --port", Treatment.WORKS, "`0`, like `-1`, picks a free port; it does not turn TCP off", "-p", "-1"),
    UDP_PORT("-U, --udp-port", Treatment.REFUSED, "UDP is not supported; `-U 0` is accepted", "-U", "11211"),
    UNIX_SOCKET("-s, --unix-socket", Treatment.WORKS, "the RDMA port stays open, on 127.0.0.1", "-s", "/tmp/none"),
    UNIX_MASK("-a, --unix-mask", Treatment.WORKS, "", "-a", "0770"),
    SHUTDOWN("-A, --enable-shutdown", Treatment.WORKS, "", "-A"),
    LISTEN(
            "-l, --listen",
            Treatment.WORKS,
            "a list of HOST, HOST:PORT or [IPV6]:PORT, with `notls:` before those that `-Z` leaves in the clear; the"
                    + " RDMA port listens on each, with one number",
            "-l",
            "127.0.0.1,127.0.0.1:11212"),
    DAEMON(
            "-d, --daemon",
            Treatment.WORKS,
            "the server keeps its working directory; `-P` also works without `-d`",
            "-d"),
    CORE_DUMPS("-r, --enable-coredumps", Treatment.WARNED, "`ulimit -c` decides", "-r"),
    USER("-u, --user", Treatment.WORKS, "only root can switch users; root need not use it", "-u", "root"),
    MEMORY("-m, --memory-limit", Treatment.WORKS, "does not include the JVM's heap", "-m", "128"),
    NO_EVICTIONS("-M, --disable-evictions", Treatment.WORKS, "", "-M"),
    CONNECTIONS("-c, --conn-limit", Treatment.WORKS, "also the limit of queue pairs", "-c", "10"),
    LOCK_MEMORY(
            "-k, --lock-memory",
            Treatment.WORKS,
            "the same as `--pinning eager`: locks `-m` at the start, not the memory of the JVM",
            "-k"),
    VERBOSE(
            "-v, --verbose",
            Treatment.WORKS,
            "logs more than memcached: settings, refused logins, queue pairs; `-vv` also connections and commands,"
                    + " without values"),
    HELP("-h, --help", Treatment.WORKS, ""),
    LICENSE("-i, --license", Treatment.WORKS, "", "-i"),
    VERSION("-V, --version", Treatment.WORKS, ""),
    PID_FILE("-P, --pidfile", Treatment.WORKS, "", "-P", "/tmp/none"),
    FACTOR("-f, --slab-growth-factor", Treatment.WORKS, "", "-f", "2"),
    MINIMUM("-n, --slab-min-size", Treatment.WORKS, "", "-n", "64"),
    LARGE_PAGES("-L, --enable-largepages", Treatment.WORKS, "huge pages that the administrator has reserved", "-L"),
    DELIMITER("-D", Treatment.WORKS, "", "-D", ":"),
    THREADS("-t, --threads", Treatment.WORKS, "", "-t", "2"),
    REQUESTS("-R, --max-reqs-per-event", Treatment.WORKS, "default: no limit", "-R", "20"),
    NO_CAS("-C, --disable-cas", Treatment.WORKS, "CAS values are 0 and no `cas` stores; items get no shorter", "-C"),
    BACKLOG("-b, --listen-backlog", Treatment.WORKS, "", "-b", "10"),
    PROTOCOL("-B, --protocol", Treatment.WORKS, "", "-B", "ascii"),
    ITEM_SIZE(
            "-I, --max-item-size",
            Treatment.WORKS,
            "at most 15m: an item is not split, so that one READ gets it",
            "-I",
            "2m"),
    NO_FLUSH("-F, --disable-flush-all", Treatment.WORKS, "", "-F"),
    NO_DUMPS("-X, --disable-dumping", Treatment.WORKS, "", "-X"),
    NO_WATCHING("-W, --disable-watch", Treatment.WORKS, "", "-W"),
    PASSWORDS("-Y, --auth-file", Treatment.WORKS, "SIGHUP rereads the file"),
    SASL("-S, --enable-sasl", Treatment.WORKS, "PLAIN only, with the users of `-Y`; no SASL library"),
    TLS("-Z, --enable-ssl", Treatment.WORKS, "with the words `ssl_...` of `-o`; READs are not encrypted"),
    RESTART(
            "-e",
            Treatment.REFUSED,
            "items do not survive a restart. memcached's long form, --memory-file, is another option here: it lets idle items leave RAM",
            "-e",
            "/tmp/none"),
    NAPI("-N, --napi_ids", Treatment.WARNED, "connections are spread over all threads", "-N", "2"),
    EXTENDED("-o, --extended", Treatment.WORKS, "words are listed below", "-o", "modern");

    private final String names;
    private final Treatment treatment;
    private final String remark;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> example;

    MemcachedOption(String names, Treatment treatment, String remark, String... example) {
        this.names = names;
        this.treatment = treatment;
        this.remark = remark;
        this.example = List.of(example);
    }

    Treatment treatment() {
        return treatment;
    }

    /** Arguments that show the treatment; none for what {@link ServerCommand} alone does not see. */
    List<String> example() {
        return example;
    }

    String row() {
        return "| `" + names.replace(", ", "`, `") + "` | " + treatment.text() + " | " + remark + " |";
    }
}
