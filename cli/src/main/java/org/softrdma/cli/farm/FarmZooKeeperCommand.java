package org.softrdma.cli.farm;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
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
            "Run one ZooKeeper server, to try FaRM.",
            "While it is down its clusters stop; they continue when it is back. With three servers, each with --id"
                    + " and the same --ensemble, one of them may fail."
        })
final class FarmZooKeeperCommand implements Callable<Integer> {
    private static final Pattern SERVER = Pattern.compile("[^\\s;|]+:[0-9]{1,5}:[0-9]{1,5}");

    private static final String SAY_ALL = "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper=error";

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            required = true,
            description = "Directory of its state; an existing state is used.")
    private Path directory;

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:2181",
            description = "Address to listen on (${DEFAULT-VALUE}); port 0 picks a free one.")
    private String listen = "";

    @Option(
            names = "--ensemble",
            paramLabel = "HOST:PORT:PORT",
            split = ",",
            description =
                    "All servers, separated by commas, in the same order at each: host, port for the other servers,"
                            + " port for elections.")
    private List<String> ensemble = List.of();

    @Option(
            names = "--id",
            paramLabel = "N",
            defaultValue = "0",
            description = "Position of this server in --ensemble, from 1.")
    private int id;

    @Option(names = "--until-input-ends", description = "Stop when standard input ends.")
    private boolean untilInputEnds;

    FarmZooKeeperCommand() {}

    @Override
    public Integer call() {
        requireEnsemble();
        ProcessStop stop = new ProcessStop(new CountDownLatch(1));
        try (LocalZooKeeper server =
                LocalZooKeeper.start(directory, HostPort.listener("--listen", listen), id, ensemble)) {
            PrintWriter out = spec.commandLine().getOut();
            out.println("zookeeper: " + server.servers());
            out.flush();
            AtomicBoolean hasEnded = new AtomicBoolean();
            server.onEnd(() -> {
                hasEnded.set(true);
                stop.stop();
            });
            stop.await(untilInputEnds ? System.in : null, line -> {});
            return hasEnded.get() ? tellEnd() : ExitCode.OK;
        } catch (ClusterException e) {
            throw new UserErrorException(String.valueOf(e.getMessage()), e);
        } finally {
            stop.closed();
        }
    }

    private int tellEnd() {
        PrintWriter err = spec.commandLine().getErr();
        err.println(spec.qualifiedName() + ": ZooKeeper has ended by itself, most often because it cannot write to "
                + directory + ": is there room? JAVA_TOOL_OPTIONS=" + SAY_ALL + " makes it say more. Its clusters wait"
                + " until it is started again");
        err.flush();
        return ExitCode.FAILED;
    }

    private void requireEnsemble() {
        for (String server : ensemble) {
            if (!SERVER.matcher(server).matches()) {
                throw new UserErrorException("--ensemble " + server
                        + ": expected HOST:PORT:PORT,..., with ports for each other and for elections");
            }
        }
        if (ensemble.size() == 1) {
            throw new UserErrorException("--ensemble: expected all servers, three of them or more; omit it for one");
        }
        if (ensemble.isEmpty() ? id != 0 : id < 1 || id > ensemble.size()) {
            throw new UserErrorException("--id " + id + ": expected "
                    + (ensemble.isEmpty()
                            ? "--ensemble, too"
                            : "1 to " + ensemble.size() + ", which of --ensemble it is"));
        }
    }
}
