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
            description = "Number of ZooKeeper servers (${DEFAULT-VALUE}); with 3, one may fail.")
    private int count;

    ZooKeepersOption() {}

    int count() {
        if (count < 1 || count > MOST) {
            throw new UserErrorException("--zookeepers " + count + ": expected 1 to " + MOST);
        }
        return count;
    }
}
