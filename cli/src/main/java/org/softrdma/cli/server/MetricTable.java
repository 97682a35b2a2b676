package org.softrdma.cli.server;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the statistics of a server are for Prometheus: name, type and a sentence. Those of memcached have the names and
 * labels of memcached_exporter. No state.
 */
final class MetricTable {
    static final String GAUGE = "gauge";
    static final String COUNTER = "counter";

    private MetricTable() {}

    /**
     * One statistic.
     *
     * @param name memcached's, or ours in {@code stats rdma}
     * @param metric memcached_exporter's without its prefix; empty if it follows from our name
     * @param type Prometheus's: a gauge is as it is now, a counter only grows
     * @param help what it is
     */
    record Mapping(String name, String metric, String type, String help) {
        Mapping(String name, String type, String help) {
            this(name, "", type, help);
        }
    }

    /** {@code stats}. */
    static final List<Mapping> GENERAL = List.of(
            new Mapping("uptime", "uptime_seconds", COUNTER, "Seconds since the server was started."),
            new Mapping("time", "time_seconds", GAUGE, "The server's clock: seconds since 1970."),
            new Mapping(
                    "rusage_user", "process_user_cpu_seconds_total", COUNTER, "CPU time of the process in user mode."),
            new Mapping(
                    "rusage_system",
                    "process_system_cpu_seconds_total",
                    COUNTER,
                    "CPU time of the process in the kernel."),
            new Mapping("bytes_read", "read_bytes_total", COUNTER, "Bytes received from memcached clients."),
            new Mapping("bytes_written", "written_bytes_total", COUNTER, "Bytes sent to memcached clients."),
            new Mapping("curr_connections", "current_connections", GAUGE, "Connections of memcached clients now."),
            new Mapping("max_connections", "max_connections", GAUGE, "The most connections at once (-c)."),
            new Mapping("total_connections", "connections_total", COUNTER, "Connections accepted."),
            new Mapping(
                    "rejected_connections",
                    "connections_rejected_total",
                    COUNTER,
                    "Connections refused because there were too many."),
            new Mapping(
                    "conn_yields",
                    "connections_yielded_total",
                    COUNTER,
                    "Times that a connection let others go first (-R)."),
            new Mapping(
                    "listen_disabled_num",
                    "connections_listener_disabled_total",
                    COUNTER,
                    "Times that the server stopped to accept because of too many connections."),
            new Mapping("accepting_conns", "accepting_connections", GAUGE, "1 if the server accepts connections."),
            new Mapping("bytes", "current_bytes", GAUGE, "Bytes of items now."),
            new Mapping("limit_maxbytes", "limit_bytes", GAUGE, "Memory for items (-m)."),
            new Mapping("curr_items", "current_items", GAUGE, "Items now."),
            new Mapping("total_items", "items_total", COUNTER, "Items stored."),
            new Mapping("evictions", "items_evicted_total", COUNTER, "Items evicted to make room for others."),
            new Mapping(
                    "reclaimed",
                    "items_reclaimed_total",
                    COUNTER,
                    "Times that the memory of an expired item was used again."),
            new Mapping(
                    "store_too_large",
                    "item_too_large_total",
                    COUNTER,
                    "Values refused because they were too large (-I)."),
            new Mapping(
                    "store_no_memory", "item_no_memory_total", COUNTER, "Values refused because there was no memory."),
            new Mapping(
                    "direct_reclaims",
                    "direct_reclaims_total",
                    COUNTER,
                    "Times that a connection's thread had to evict or reclaim items itself."),
            new Mapping(
                    "lru_crawler_starts",
                    "lru_crawler_starts_total",
                    COUNTER,
                    "Times that the LRU crawler was started."),
            new Mapping("crawler_reclaimed", "lru_crawler_reclaimed_total", COUNTER, "Items freed by the LRU crawler."),
            new Mapping(
                    "crawler_items_checked",
                    "lru_crawler_items_checked_total",
                    COUNTER,
                    "Items that the LRU crawler looked at."),
            new Mapping(
                    "moves_to_cold",
                    "lru_crawler_moves_to_cold_total",
                    COUNTER,
                    "Items moved from the hot or warm LRU to the cold one."),
            new Mapping(
                    "moves_to_warm",
                    "lru_crawler_moves_to_warm_total",
                    COUNTER,
                    "Items moved from the cold LRU to the warm one."),
            new Mapping(
                    "moves_within_lru",
                    "lru_crawler_moves_within_lru_total",
                    COUNTER,
                    "Items moved to the front of the hot or warm LRU."));

    /** {@code stats settings}. */
    static final List<Mapping> SETTINGS = List.of(
            new Mapping("lru_crawler", "lru_crawler_enabled", GAUGE, "1 if the LRU crawler is on."),
            new Mapping(
                    "lru_crawler_sleep",
                    "lru_crawler_sleep",
                    GAUGE,
                    "Microseconds that the LRU crawler sleeps between two items."),
            new Mapping(
                    "lru_crawler_tocrawl",
                    "lru_crawler_to_crawl",
                    GAUGE,
                    "The most items of a slab class that the LRU crawler looks at in one run; 0 is no limit."),
            new Mapping(
                    "lru_maintainer_thread",
                    "lru_crawler_maintainer_thread",
                    GAUGE,
                    "1 if a background thread maintains the LRUs."),
            new Mapping("hot_lru_pct", "lru_crawler_hot_percent", GAUGE, "The hot LRU's share of a slab class."),
            new Mapping("warm_lru_pct", "lru_crawler_warm_percent", GAUGE, "The warm LRU's share of a slab class."),
            new Mapping(
                    "hot_max_factor",
                    "lru_crawler_hot_max_factor",
                    GAUGE,
                    "Idle age at which items leave the hot LRU, as a multiple of the cold LRU's age."),
            new Mapping(
                    "warm_max_factor",
                    "lru_crawler_warm_max_factor",
                    GAUGE,
                    "Idle age at which items leave the warm LRU, as a multiple of the cold LRU's age."));

    /** {@code stats items}, by slab class. */
    static final List<Mapping> ITEMS = List.of(
            new Mapping("number", "slab_current_items", GAUGE, "Items of the slab class now."),
            new Mapping("age", "slab_items_age_seconds", GAUGE, "Age of the oldest item in the cold LRU."),
            new Mapping(
                    "crawler_reclaimed",
                    "slab_items_crawler_reclaimed_total",
                    COUNTER,
                    "Items freed by the LRU crawler."),
            new Mapping("evicted", "slab_items_evicted_total", COUNTER, "Items evicted to make room for others."),
            new Mapping(
                    "evicted_nonzero",
                    "slab_items_evicted_nonzero_total",
                    COUNTER,
                    "Items evicted that had an expiry time."),
            new Mapping(
                    "evicted_time",
                    "slab_items_evicted_time_seconds",
                    GAUGE,
                    "Time since the last access to the item that was evicted last."),
            new Mapping(
                    "evicted_unfetched",
                    "slab_items_evicted_unfetched_total",
                    COUNTER,
                    "Items evicted that nobody had fetched."),
            new Mapping(
                    "expired_unfetched",
                    "slab_items_expired_unfetched_total",
                    COUNTER,
                    "Items expired that nobody had fetched."),
            new Mapping(
                    "outofmemory",
                    "slab_items_outofmemory_total",
                    COUNTER,
                    "Values refused because there was no memory."),
            new Mapping(
                    "reclaimed",
                    "slab_items_reclaimed_total",
                    COUNTER,
                    "Times that the memory of an expired item was used again."),
            new Mapping(
                    "tailrepairs",
                    "slab_items_tailrepairs_total",
                    COUNTER,
                    "Times that the end of an LRU was repaired."),
            new Mapping(
                    "mem_requested", "slab_mem_requested_bytes", GAUGE, "Bytes that the items of the slab class need."),
            new Mapping(
                    "moves_to_cold",
                    "slab_items_moves_to_cold",
                    COUNTER,
                    "Items moved from the hot or warm LRU to the cold one."),
            new Mapping(
                    "moves_to_warm",
                    "slab_items_moves_to_warm",
                    COUNTER,
                    "Items moved from the cold LRU to the warm one."),
            new Mapping(
                    "moves_within_lru",
                    "slab_items_moves_within_lru",
                    COUNTER,
                    "Items moved to the front of the hot or warm LRU."),
            new Mapping("number_hot", "slab_hot_items", GAUGE, "Items in the hot LRU now."),
            new Mapping("number_warm", "slab_warm_items", GAUGE, "Items in the warm LRU now."),
            new Mapping("number_cold", "slab_cold_items", GAUGE, "Items in the cold LRU now."),
            new Mapping("number_temp", "slab_temporary_items", GAUGE, "Items in the temporary LRU now."),
            new Mapping("age_hot", "slab_hot_age_seconds", GAUGE, "Age of the oldest item in the hot LRU."),
            new Mapping("age_warm", "slab_warm_age_seconds", GAUGE, "Age of the oldest item in the warm LRU."));

    /** {@code stats slabs}, by slab class. */
    static final List<Mapping> SLABS = List.of(
            new Mapping("chunk_size", "slab_chunk_size_bytes", GAUGE, "Bytes of a chunk of the slab class."),
            new Mapping("chunks_per_page", "slab_chunks_per_page", GAUGE, "Chunks of a page of the slab class."),
            new Mapping("total_pages", "slab_current_pages", GAUGE, "Pages of the slab class now."),
            new Mapping("total_chunks", "slab_current_chunks", GAUGE, "Chunks of the slab class now."),
            new Mapping("used_chunks", "slab_chunks_used", GAUGE, "Chunks that hold an item now."),
            new Mapping("free_chunks", "slab_chunks_free", GAUGE, "Chunks without an item now."),
            new Mapping(
                    "free_chunks_end",
                    "slab_chunks_free_end",
                    GAUGE,
                    "Chunks never used yet, at the end of the last page."));

    /** {@code stats rdma}. */
    private static final List<Mapping> RDMA = List.of(
            new Mapping("item_regions", GAUGE, "Memory regions that hold items now."),
            new Mapping("queue_pairs", GAUGE, "Queue pairs of clients now."),
            new Mapping("rejected_queue_pairs", COUNTER, "Queue pairs that were refused."),
            new Mapping(
                    "stalled_queue_pairs",
                    COUNTER,
                    "Queue pairs that were ended because their client took no answer for ten seconds."),
            new Mapping("wrong_keys", COUNTER, "Accesses with a wrong rkey."),
            new Mapping("paused_peers", GAUGE, "Addresses that are paused because of wrong rkeys now."),
            new Mapping("paused_hellos", COUNTER, "Hellos refused during such a pause."),
            new Mapping("rget_hits", COUNTER, "rget commands that found an item."),
            new Mapping("rget_misses", COUNTER, "rget commands that found none."),
            new Mapping("rdma_get_hits", COUNTER, "READs that found an item, as clients report them."),
            new Mapping("rdma_touch_reports", COUNTER, "Touch reports of clients."),
            new Mapping("rdma_hits_refused", COUNTER, "Hits in touch reports beyond a client's budget."),
            new Mapping("rdma_touches_refused", COUNTER, "Touches in touch reports beyond a client's budget."));

    /** Of the soft RNIC in {@code stats rdma}, as docs/reference/counters.md says it. */
    private static final List<Mapping> DEVICE = List.of(
            new Mapping(
                    "device_responderReads",
                    COUNTER,
                    "READs of peers whose responses were handed to TCP, and READs that peers on this host did directly"),
            new Mapping("device_responderReadBytes", COUNTER, "bytes of responderReads"),
            new Mapping(
                    "device_sameHostResponderReads",
                    COUNTER,
                    "READs among responderReads that peers on this host report to have done directly"),
            new Mapping("device_responderWrites", COUNTER, "WRITEs of peers that were placed"),
            new Mapping("device_responderWriteBytes", COUNTER, "bytes of those WRITEs"),
            new Mapping("device_responderSends", COUNTER, "SENDs of peers that were delivered"),
            new Mapping("device_responderAtomics", COUNTER, "atomics of peers that were executed"),
            new Mapping("device_responderImmediates", COUNTER, "immediates of peers that were delivered"),
            new Mapping(
                    "device_accessErrors",
                    COUNTER,
                    "accesses of peers that were refused because of their key, domain, access right or range"),
            new Mapping(
                    "device_sameHostReads",
                    COUNTER,
                    "READs of memory that a peer on this host shares, done without the peer"),
            new Mapping("device_sameHostReadBytes", COUNTER, "bytes of sameHostReads"),
            new Mapping("device_connectionsEstablished", COUNTER, "connections that were established"),
            new Mapping("device_connectionsClosed", COUNTER, "established connections that ended"),
            new Mapping("device_handshakeErrors", COUNTER, "handshakes that failed: malformed, refused or too slow"),
            new Mapping("device_protocolErrors", COUNTER, "streams that broke a rule of DDP or RDMAP"),
            new Mapping("device_crcErrors", COUNTER, "FPDUs whose CRC was wrong"),
            new Mapping("device_silentHosts", COUNTER, "connections that ended because the peer's host did not answer"),
            new Mapping(
                    "device_lingeringReset",
                    COUNTER,
                    "ended connections that were reset because too many waited for their peer"),
            new Mapping(
                    "device_unfinishedEnded",
                    COUNTER,
                    "connections that were ended because their peer left an FPDU with CRC unfinished while others"
                            + " needed the memory"),
            new Mapping("device_engineFaults", COUNTER, "faults of the engine, most of which ended a connection"),
            new Mapping("device_terminatesSent", COUNTER, "Terminate messages sent"),
            new Mapping("device_terminatesReceived", COUNTER, "Terminate messages received"),
            new Mapping(
                    "device_sentSegments.write",
                    COUNTER,
                    "segments sent of WRITEs, and of the ready-to-receive of a handshake"),
            new Mapping("device_sentSegments.send", COUNTER, "segments sent of SENDs"),
            new Mapping("device_sentSegments.readRequest", COUNTER, "segments sent of READ requests"),
            new Mapping("device_sentSegments.readResponse", COUNTER, "segments sent of READ responses"),
            new Mapping("device_sentSegments.immediate", COUNTER, "segments sent of immediates"),
            new Mapping("device_sentSegments.atomicRequest", COUNTER, "segments sent of atomic requests"),
            new Mapping("device_sentSegments.atomicResponse", COUNTER, "segments sent of atomic responses"),
            new Mapping(
                    "device_receivedSegments.write",
                    COUNTER,
                    "segments received of WRITEs, and of the ready-to-receive of a handshake"),
            new Mapping("device_receivedSegments.send", COUNTER, "segments received of SENDs"),
            new Mapping("device_receivedSegments.readRequest", COUNTER, "segments received of READ requests"),
            new Mapping("device_receivedSegments.readResponse", COUNTER, "segments received of READ responses"),
            new Mapping("device_receivedSegments.immediate", COUNTER, "segments received of immediates"),
            new Mapping("device_receivedSegments.atomicRequest", COUNTER, "segments received of atomic requests"),
            new Mapping("device_receivedSegments.atomicResponse", COUNTER, "segments received of atomic responses"),
            new Mapping("device_receiveCalls", COUNTER, "calls that received from a socket"),
            new Mapping("device_sendCalls", COUNTER, "calls that sent to a socket"),
            new Mapping("device_shortSends", COUNTER, "sends of which the kernel took only a part"),
            new Mapping("device_roce.packetsReceived", COUNTER, "packets received"),
            new Mapping("device_roce.packetsSent", COUNTER, "packets given to the kernel"),
            new Mapping("device_roce.retransmitted", COUNTER, "packets sent again"),
            new Mapping(
                    "device_roce.timeouts",
                    COUNTER,
                    "times that nothing was heard for so long that packets were sent again"),
            new Mapping(
                    "device_roce.duplicates",
                    COUNTER,
                    "packets of reliable peers that repeated what was executed, as do questions whether this side is there"),
            new Mapping(
                    "device_roce.outOfSequence",
                    COUNTER,
                    "packets of reliable peers that came behind one that was missing"),
            new Mapping(
                    "device_roce.malformed",
                    COUNTER,
                    "dropped: headers or lengths that do not fit together, an unknown opcode or version"),
            new Mapping("device_roce.wrongPartition", COUNTER, "dropped: of another partition"),
            new Mapping("device_roce.icrcErrors", COUNTER, "dropped: damaged"),
            new Mapping(
                    "device_roce.unknownQueuePair",
                    COUNTER,
                    "dropped: for a queue pair that there is not, or that is not connected yet"),
            new Mapping("device_roce.foreignSource", COUNTER, "dropped: not from the address of the queue pair's peer"),
            new Mapping(
                    "device_roce.wrongTransport",
                    COUNTER,
                    "dropped: not of the type of the queue pair, or no message of the connection manager"),
            new Mapping(
                    "device_roce.missing",
                    COUNTER,
                    "packets of unreliable connections that did not come, or not in order"),
            new Mapping(
                    "device_roce.late",
                    COUNTER,
                    "dropped, on an unreliable connection: packets that came behind a later one, or twice"),
            new Mapping(
                    "device_roce.incomplete",
                    COUNTER,
                    "dropped, on an unreliable connection: packets of a message of which an earlier one was missing or dropped"),
            new Mapping(
                    "device_roce.noReceive",
                    COUNTER,
                    "dropped, on an unreliable connection or as a datagram: there was no RECV"),
            new Mapping(
                    "device_roce.tooLong",
                    COUNTER,
                    "dropped, on an unreliable connection or as a datagram: longer than the RECV"),
            new Mapping(
                    "device_roce.accessRefused",
                    COUNTER,
                    "dropped, on an unreliable connection: WRITEs to memory that the peer may not write"),
            new Mapping(
                    "device_roce.wrongLength",
                    COUNTER,
                    "dropped, on an unreliable connection: a length that does not belong there"),
            new Mapping(
                    "device_roce.wrongQueueKey",
                    COUNTER,
                    "dropped: datagrams with another queue key than that of their queue pair"),
            new Mapping(
                    "device_roce.lateAnswers",
                    COUNTER,
                    "dropped, on a reliable connection: answers to what was answered before or never asked; also those"
                            + " to questions whether a peer is there"),
            new Mapping(
                    "device_roce.skippingAnswers",
                    COUNTER,
                    "dropped, on a reliable connection: answers before which one with data is missing, which is asked"
                            + " for again"),
            new Mapping(
                    "device_roce.answersWithoutRoom",
                    COUNTER,
                    "answers not given because too many waited: a peer repeats requests faster than answers go"),
            new Mapping(
                    "device_roce.slowdowns",
                    COUNTER,
                    "times that a reliable connection began to have fewer packets on its way, because some were lost"),
            new Mapping(
                    "device_roce.connectionMessagesLost",
                    COUNTER,
                    "messages of the connection manager that found no room"),
            new Mapping(
                    "device_roce.socketDropped",
                    COUNTER,
                    "packets that arrived and that the kernel dropped, most for want of room in the socket: raise"
                            + " net.core.rmem_max; 0 on java.nio"),
            new Mapping(
                    "device_roce.socketRefused",
                    COUNTER,
                    "packets that the kernel refused to send: no way to the peer, or too long for it"),
            new Mapping("device_memoryRegions", GAUGE, "memory regions"),
            new Mapping("device_memoryWindows", GAUGE, "memory windows"),
            new Mapping("device_openSockets", GAUGE, "sockets"),
            new Mapping("device_pinning.registeredBytes", GAUGE, "bytes of all regions"),
            new Mapping("device_pinning.pinnedBytes", GAUGE, "bytes that are pinned"),
            new Mapping("device_pinning.highWaterBytes", GAUGE, "maximum number of bytes pinned at once"),
            new Mapping("device_pinning.firstTouches", COUNTER, "accesses that found their granule unpinned"),
            new Mapping("device_pinning.pins", COUNTER, "times that a granule, or more of its pages, was pinned"),
            new Mapping("device_pinning.unpins", COUNTER, "times that a granule was unpinned"),
            new Mapping("device_pinning.evictions", COUNTER, "unpins to make room for another granule"),
            new Mapping("device_pinning.unpinnedAccesses", COUNTER, "accesses to memory that could not be pinned"),
            new Mapping("device_pinning.ns", COUNTER, "time spent pinning and unpinning"),
            new Mapping("device_pinning.budgetBytes", GAUGE, "limit of bytes that are pinned lazily at once"));

    /** All of {@code stats rdma}, by name. */
    static final Map<String, Mapping> OWN = Stream.concat(RDMA.stream(), DEVICE.stream())
            .collect(Collectors.toUnmodifiableMap(Mapping::name, Function.identity()));
}
