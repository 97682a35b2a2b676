package org.softrdma.kv.server.session;

import org.softrdma.kv.server.rdma.RdmaOffer;

/**
 * The parts of a server that its connections use.
 *
 * @param service the store, clocks, counters and settings
 * @param offer for clients that READ
 * @param maintenance flushes and reclaims
 * @param statistics answers to stats
 * @param connections all of them
 */
public record ServerParts(
        KvService service,
        RdmaOffer offer,
        Maintenance maintenance,
        ServerStatistics statistics,
        ConnectionList connections) {}
