package org.softrdma.cli.farm;

import org.softrdma.cli.command.UserErrorException;
import picocli.CommandLine.Option;

/** How many servers of ZooKeeper a cluster on this machine has. */
final class ZooKeepersOption {
    private static final int MOST = 9;

    @Option(
            names = "--zookeepers",
            paramLabel = "N",
            defaultValue = "1",
            description = "Servers of ZooKeeper (${DEFAULT-VALUE}); with 3 of them one may be lost.")
    private int count;

    ZooKeepersOption() {}

    int count() {
        if (count < 1 || count > MOST) {
            throw new UserErrorException("--zookeepers " + count + ": expected 1 to " + MOST);
        }
        return count;
    }
}
