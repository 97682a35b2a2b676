package org.softrdma.cli.farm;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.HostPort;
import org.softrdma.cli.command.ProcessStop;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cluster.ClusterException;
import org.softrdma.cluster.LocalZooKeeper;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softrdma farm zookeeper}: one server of ZooKeeper from this jar. */
@Command(
        name = "zookeeper",
        description = {
            "Run one server of ZooKeeper, to try FaRM with.",
            "When it is gone for longer than a session, all machines of its clusters stop. A cluster that shall"
                    + " survive the loss of a server needs three, installed as ZooKeeper's documentation says."
        })
final class FarmZooKeeperCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            required = true,
            description = "Where it keeps its state; it goes on with what is there.")
    private Path directory;

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:2181",
            description = "Address to listen on (${DEFAULT-VALUE}); port 0 picks a free one.")
    private String listen = "";

    @Option(names = "--until-input-ends", description = "Stop when standard input ends.")
    private boolean untilInputEnds;

    FarmZooKeeperCommand() {}

    @Override
    public Integer call() {
        ProcessStop stop = new ProcessStop(new CountDownLatch(1));
        try (LocalZooKeeper server = LocalZooKeeper.start(directory, HostPort.listener("--listen", listen))) {
            PrintWriter out = spec.commandLine().getOut();
            out.println("zookeeper: " + server.servers());
            out.flush();
            stop.await(untilInputEnds ? System.in : null, line -> {});
            return ExitCode.OK;
        } catch (ClusterException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        } finally {
            stop.closed();
        }
    }
}
