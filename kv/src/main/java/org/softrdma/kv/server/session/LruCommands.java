package org.softrdma.kv.server.session;

import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.LruRules;

/** {@code lru} and {@code lru_crawler} of one connection. Owned by the thread of the connection. */
final class LruCommands {
    private static final long MOST_SLEEP_MICROS = 1_000_000;

    private final KvService service;
    private final Maintenance maintenance;
    private final Conversation connection;
    private final ItemDump dump;

    LruCommands(ServerParts server, Conversation connection) {
        this.service = server.service();
        this.maintenance = server.maintenance();
        this.connection = connection;
        this.dump = new ItemDump(service, connection);
    }

    void lru(TextRequest request) {
        byte[] answer = switch (request.argument(1)) {
            case "tune" -> tune(request);
            case "mode" -> mode(request);
            case "temp_ttl" -> temporaryTtl(request);
            default -> TextProtocol.ERROR;
        };
        if (!request.noreply()) {
            connection.reply(answer);
        }
    }

    private byte[] tune(TextRequest request) {
        if (request.argumentCount() < 5
                || !request.isUnsigned(2)
                || !request.isUnsigned(3)
                || !request.isDecimal(4)
                || !request.isDecimal(5)) {
            return TextProtocol.ERROR;
        }
        long hot = request.unsigned32(2);
        long warm = request.unsigned32(3);
        if (hot + warm > LruRules.MOST_PERCENT) {
            return TextProtocol.LRU_PERCENTS;
        }
        double hotFactor = request.decimal(4);
        double warmFactor = request.decimal(5);
        if (!(hotFactor > 0 && warmFactor > 0)) {
            return TextProtocol.LRU_FACTORS;
        }
        service.store().lru().tune((int) hot, (int) warm, hotFactor, warmFactor);
        return TextProtocol.OK;
    }

    private byte[] mode(TextRequest request) {
        String mode = request.argument(2);
        boolean known = mode.equals("flat") || mode.equals("segmented");
        if (!known || !maintenance.areTailsReclaimed()) {
            return TextProtocol.ERROR;
        }
        service.store().lru().segmented(mode.equals("segmented"));
        return TextProtocol.OK;
    }

    private byte[] temporaryTtl(TextRequest request) {
        if (request.argumentCount() < 2 || !request.isSigned(2) || !maintenance.areTailsReclaimed()) {
            return TextProtocol.ERROR;
        }
        int seconds = request.signed32(2);
        if (seconds < 0) {
            service.store().lru().temporaryLikeOthers();
        } else {
            service.store().lru().temporaryTtl(seconds);
        }
        return TextProtocol.OK;
    }

    /** Expired items go, whatever class they are in; keys are listed by class. */
    void crawler(TextRequest request) {
        String what = request.argument(1);
        if (request.argumentCount() == 1 && (what.equals("enable") || what.equals("disable"))) {
            boolean started = what.equals("enable") && maintenance.isCrawling();
            maintenance.crawling(what.equals("enable"));
            connection.reply(started ? TextProtocol.CRAWLER_STARTED : TextProtocol.OK);
        } else if (request.argumentCount() == 2) {
            crawlerOf(what, request);
        } else {
            connection.reply(TextProtocol.ERROR);
        }
    }

    private void crawlerOf(String what, TextRequest request) {
        switch (what) {
            case "crawl" -> crawl(request.argument(2));
            case "metadump" -> dump(request.argument(2), ItemDump.Form.METADUMP);
            case "mgdump" -> dump(request.argument(2), ItemDump.Form.MGDUMP);
            case "tocrawl" -> {
                if (request.isUnsigned(2)) {
                    maintenance.crawlAtMost(request.unsigned32(2));
                    connection.reply(TextProtocol.OK);
                } else {
                    connection.reply(TextProtocol.BAD_FORMAT);
                }
            }
            case "sleep" -> {
                if (!request.isUnsigned(2)) {
                    connection.reply(TextProtocol.BAD_FORMAT);
                } else if (request.unsigned32(2) > MOST_SLEEP_MICROS) {
                    connection.reply(TextProtocol.LONG_SLEEP);
                } else {
                    maintenance.crawlSleepMicros(request.unsigned32(2));
                    connection.reply(TextProtocol.OK);
                }
            }
            default -> connection.reply(TextProtocol.ERROR);
        }
    }

    private void crawl(String classes) {
        if (!maintenance.isCrawling()) {
            connection.reply(TextProtocol.CRAWLER_DISABLED);
        } else if (ClassList.of(classes).isEmpty()) {
            connection.reply(TextProtocol.BAD_CLASS);
        } else if (classes.equals("hash")) {
            connection.reply(TextProtocol.CRAWLER_ERROR);
        } else {
            maintenance.crawl();
            connection.reply(TextProtocol.OK);
        }
    }

    private void dump(String classes, ItemDump.Form form) {
        if (!maintenance.isCrawling()) {
            connection.reply(TextProtocol.CRAWLER_DISABLED);
        } else if (!service.settings().diagnosis().dumpAllowed()) {
            connection.reply(form.refusal());
        } else if (connection.hasOutput()) {
            connection.reply(form.pipelined());
        } else {
            ClassList.of(classes)
                    .ifPresentOrElse(list -> dump.begin(list, form), () -> connection.reply(TextProtocol.BAD_CLASS));
        }
    }
}
