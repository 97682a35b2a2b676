package org.softrdma.kv.server.session;

import org.softrdma.kv.server.host.PortSettings;

/**
 * What the owner of the server has said about its sessions.
 *
 * @param port where memcached clients connect
 * @param rules what they may do
 * @param owner whom their commands may call
 * @param diagnosis what clients may see of the items and of each other
 * @param version what the version command answers
 */
public record ServiceSettings(
        PortSettings port, ClientRules rules, OwnerCalls owner, DiagnosisSettings diagnosis, String version) {}
