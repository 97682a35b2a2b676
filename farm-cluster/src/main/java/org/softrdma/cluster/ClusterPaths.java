package org.softrdma.cluster;

import java.util.List;

/**
 * The nodes of a cluster in ZooKeeper. "If E" means: in one multi with a check that the version of {@code epoch} is E.
 *
 * <pre>
 *  /farm/NAME/settings     what all machines have in common, as text                created by the first machine
 *            /machines/m-N ephemeral, sequential: N is the number of a machine      by the machine
 *            /alive/N      ephemeral: address, and whether it offers memory         by the machine, when it listens
 *            /leases/N     ephemeral: the epoch, written again and again            by the machine, if E
 *            /epoch        its version is the epoch                                 by the holder, if E, with config
 *            /config       the configuration                                        by anybody, if E and unchanged
 *            /active       the epoch that is active                                 by the holder, if E
 *            /acks/E-N     ephemeral: N takes nothing of epochs before E            by the machine, if E
 *            /whole/E-R-N  ephemeral: in epoch E the copy of region R on N is whole by the machine, if E
 *            /policy       the placement policy, as text                             by anybody
 *            /data-WHAT    where something is that was loaded, as text              by whoever loads it
 * </pre>
 *
 * @param root {@code /farm/NAME}
 */
record ClusterPaths(String root) {
    /** All clusters. */
    static final String CLUSTERS = "/farm";

    private static final String SEQUENTIAL = "m-";

    static ClusterPaths of(String name) {
        if (!name.matches("[A-Za-z0-9_.-]{1,64}") || name.matches("\\.+")) {
            throw new ClusterException("the name of a cluster '" + name
                    + "': expected 1 to 64 letters, digits, dots, hyphens or underscores");
        }
        return new ClusterPaths(CLUSTERS + "/" + name);
    }

    /** Those that are there from the beginning, but for the settings. */
    List<String> all() {
        return List.of(machines(), alive(), leases(), epoch(), config(), active(), acks(), whole(), policy());
    }

    String settings() {
        return root + "/settings";
    }

    String machines() {
        return root + "/machines";
    }

    String newMachine() {
        return machines() + "/" + SEQUENTIAL;
    }

    /** The number of a machine that a path ends in. */
    static int machineOf(String path) {
        return Integer.parseInt(path.substring(path.lastIndexOf(SEQUENTIAL) + SEQUENTIAL.length()));
    }

    String alive() {
        return root + "/alive";
    }

    String alive(int machine) {
        return alive() + "/" + machine;
    }

    String leases() {
        return root + "/leases";
    }

    String lease(int machine) {
        return leases() + "/" + machine;
    }

    String epoch() {
        return root + "/epoch";
    }

    String config() {
        return root + "/config";
    }

    String active() {
        return root + "/active";
    }

    String acks() {
        return root + "/acks";
    }

    String ack(int epoch, int machine) {
        return acks() + "/" + epoch + "-" + machine;
    }

    String whole() {
        return root + "/whole";
    }

    String whole(int epoch, int region, int machine) {
        return whole() + "/" + epoch + "-" + region + "-" + machine;
    }

    String policy() {
        return root + "/policy";
    }

    String data(String what) {
        return root + "/data-" + what;
    }

    /** The numbers in the name of a node. */
    static int[] numbers(String name) {
        String[] parts = name.split("-", -1);
        int[] numbers = new int[parts.length];
        for (int i = 0; i < parts.length; i++) {
            numbers[i] = Integer.parseInt(parts[i]);
        }
        return numbers;
    }
}
