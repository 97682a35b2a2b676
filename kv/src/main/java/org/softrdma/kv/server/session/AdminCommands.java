package org.softrdma.kv.server.session;

import java.io.IOException;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.server.host.PortSecurity;
import org.softrdma.kv.store.PageBalance;
import org.softrdma.kv.store.SlabGeometry;

/** The commands of one connection that concern the whole server. Owned by the thread of the connection. */
final class AdminCommands {
    private static final Logger LOG = LoggerFactory.getLogger(AdminCommands.class);
    private static final String NUMBER = "[0-9]{1,9}";
    private static final String SIGNED_NUMBER = "-?" + NUMBER;
    private static final String RATIO = "[0-9]{1,6}(\\.[0-9]{1,6})?";

    private static final int LEAST_MEGABYTES = 8;
    private static final int MOST_MEGABYTES = 1 << 26;

    private final KvService service;
    private final Maintenance maintenance;
    private final ServerStatistics statistics;
    private final ConnectionList connections;
    private final Conversation connection;
    private final ItemDump dump;

    AdminCommands(ServerParts server, Conversation connection) {
        this.service = server.service();
        this.maintenance = server.maintenance();
        this.statistics = server.statistics();
        this.connections = server.connections();
        this.connection = connection;
        this.dump = new ItemDump(service, connection);
    }

    /** Answers once everything is gone: items die one by one, and a READ must not find one afterwards. */
    void flushAll(TextRequest request) {
        if (!service.settings().rules().flushAllowed()) {
            reply(request, TextProtocol.FLUSH_DISABLED);
            return;
        }
        flushAll(request.exptime(), request.noreply() ? new byte[0] : TextProtocol.OK);
    }

    /**
     * Flushes, now or later.
     *
     * @param exptime when, as the client gave it; 0 or less for now
     * @param answer that says it is done
     */
    void flushAll(long exptime, byte[] answer) {
        service.counters().flushes.increment();
        long nowSeconds = service.nowSeconds();
        long at = exptime > 0 ? Integer.toUnsignedLong(service.expiry(exptime, nowSeconds)) - 1 : nowSeconds;
        if (at < statistics.startSeconds()) { // a time before there was a server: memcached does nothing then, too
            maintenance.flushNoMore();
            connection.reply(answer);
            return;
        }
        if (at > nowSeconds) {
            maintenance.flushAt(at);
            connection.reply(answer);
            return;
        }
        connection.await();
        maintenance.flush(() -> connection.done(answer));
    }

    void verbosity(TextRequest request) {
        service.verbosity(request.number());
        reply(request, TextProtocol.OK);
    }

    void stats(TextRequest request) {
        switch (request.argument(1)) {
            case "" -> connection.reply(statistics.general());
            case "settings" -> connection.reply(statistics.settings());
            case "items" -> connection.reply(statistics.items());
            case "slabs" -> connection.reply(statistics.slabs());
            case "conns" ->
                connection.reply(isShort() ? TextProtocol.OUT_OF_MEMORY_STATS : connections.describe(connection));
            case "rdma" -> connection.reply(statistics.rdma());
            case "detail" -> detail(request.argument(2));
            case "sizes" -> sizes();
            case "sizes_enable", "sizes_disable" -> {
                service.sizesTracked().set(request.argument(1).equals("sizes_enable"));
                connection.reply(statistics.sizesStatus());
            }
            case "cachedump" -> cachedump(request);
            case "reset" -> {
                statistics.reset();
                connection.reply(TextProtocol.RESET);
            }
            default -> connection.reply(TextProtocol.ERROR);
        }
    }

    /** Looks at all items, which takes a while: not on the thread of connections. */
    private void sizes() {
        if (service.sizesTracked().get()) {
            connection.await();
            maintenance.run(() -> connection.done(statistics.sizes()));
        } else {
            connection.reply(statistics.noSizes());
        }
    }

    private void cachedump(TextRequest request) {
        if (!service.settings().diagnosis().dumpAllowed()) {
            connection.reply(TextProtocol.CACHEDUMP_DISABLED);
        } else if (request.argumentCount() < 3) {
            connection.reply(TextProtocol.BAD_LINE);
        } else if (!request.isUnsigned(2) || !request.isUnsigned(3)) {
            connection.reply(TextProtocol.BAD_FORMAT);
        } else if (request.unsigned32(2) > SlabGeometry.MAX_CLASSES) {
            connection.reply(TextProtocol.BAD_SLAB);
        } else if (isShort()) {
            connection.reply(TextProtocol.OUT_OF_MEMORY_STATS);
        } else {
            dump.cold((int) request.unsigned32(2) - 1, request.unsigned32(3));
        }
    }

    private void detail(String what) {
        switch (what) {
            case "on", "off" -> {
                service.prefixes().counting(what.equals("on"));
                connection.reply(TextProtocol.OK);
            }
            case "dump" ->
                connection.reply(
                        isShort()
                                ? TextProtocol.OUT_OF_MEMORY_STATS
                                : service.prefixes().dump());
            default -> connection.reply(TextProtocol.BAD_DETAIL);
        }
    }

    /** True if there is no memory for long answers, because clients do not read theirs. */
    private boolean isShort() {
        return service.outputBudget().isShort();
    }

    /** {@code slabs reassign} and {@code slabs automove}. */
    void slabs(TextRequest request) {
        PageBalance balance = service.store().balance();
        switch (request.argument(1)) {
            case "reassign" ->
                connection.reply(request.argumentCount() == 3 ? reassign(balance, request) : TextProtocol.ERROR);
            case "automove" -> reply(request, automove(balance, request));
            default -> connection.reply(TextProtocol.ERROR); // noreply or not
        }
    }

    private byte[] reassign(PageBalance balance, TextRequest request) {
        if (!balance.allowed()) {
            return TextProtocol.REASSIGN_DISABLED;
        }
        String from = request.argument(2);
        String to = request.argument(3);
        if (!from.matches(SIGNED_NUMBER) || !to.matches(SIGNED_NUMBER)) {
            return TextProtocol.BAD_FORMAT;
        }
        return switch (service.store().mover().ask(sizeClass(from), sizeClass(to))) {
            case OK -> TextProtocol.OK;
            case BUSY -> TextProtocol.REASSIGN_BUSY;
            case BAD_CLASS -> TextProtocol.REASSIGN_BAD_CLASS;
            case NO_SPARE -> TextProtocol.REASSIGN_NO_SPARE;
            case SAME -> TextProtocol.REASSIGN_SAME;
        };
    }

    /** memcached counts classes from 1; its 0 is the pool, and -1 any class. */
    private static int sizeClass(String number) {
        return Integer.parseInt(number) - 1;
    }

    private static byte[] automove(PageBalance balance, TextRequest request) {
        String level = request.argument(2);
        if (!balance.allowed()) {
            return level.equals("0") ? TextProtocol.OK : TextProtocol.REASSIGN_DISABLED;
        }
        if (level.equals("ratio")) {
            String ratio = request.argumentCount() > 2 ? request.argument(3) : "";
            if (!ratio.matches(RATIO)) {
                return TextProtocol.ERROR;
            }
            balance.ratio(Double.parseDouble(ratio));
            return TextProtocol.OK;
        }
        if (!level.matches(NUMBER)) {
            return TextProtocol.BAD_FORMAT;
        }
        if (Integer.parseInt(level) > PageBalance.EAGER) {
            return TextProtocol.ERROR;
        }
        balance.level(Integer.parseInt(level));
        return TextProtocol.OK;
    }

    void memoryLimit(TextRequest request) {
        long megabytes = request.number();
        if (megabytes < LEAST_MEGABYTES) {
            reply(request, TextProtocol.MEMLIMIT_TOO_SMALL);
        } else if (megabytes > MOST_MEGABYTES) {
            reply(request, TextProtocol.MEMLIMIT_TOO_LARGE);
        } else {
            service.store().memoryLimit(megabytes << 20);
            reply(request, TextProtocol.OK);
        }
    }

    /** Reads the files of TLS again; a client learns no more of them than that they are not good. */
    void refreshCertificates() {
        PortSecurity security = connections.security();
        if (security == null) {
            connection.reply(TextProtocol.NO_TLS);
            return;
        }
        try {
            security.refresh();
            connection.reply(TextProtocol.OK);
        } catch (IOException e) {
            LOG.error("refresh_certs: {}", e.getMessage());
            connection.reply(TextProtocol.BAD_CERTIFICATES);
        }
    }

    void debugTime(TextRequest request) {
        LongConsumer moveClock = service.settings().owner().moveClock();
        if (moveClock == null || !request.argument(1).matches(SIGNED_NUMBER)) {
            connection.reply(TextProtocol.ERROR);
        } else {
            moveClock.accept(Long.parseLong(request.argument(1)));
            connection.reply(TextProtocol.OK);
        }
    }

    void shutdown(TextRequest request) {
        Runnable stop = service.settings().owner().shutdown();
        if (stop == null) {
            connection.reply(TextProtocol.SHUTDOWN_DISABLED);
        } else if (request.argument(1).isEmpty() || request.argument(1).equals("graceful")) {
            connection.closeAfterOutput();
            stop.run();
        } else {
            connection.reply(TextProtocol.BAD_SHUTDOWN);
        }
    }

    private void reply(TextRequest request, byte[] answer) {
        if (!request.noreply()) {
            connection.reply(answer);
        }
    }
}
