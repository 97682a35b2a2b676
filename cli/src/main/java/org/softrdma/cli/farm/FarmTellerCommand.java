package org.softrdma.cli.farm;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProcessStop;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.farm.node.FarmException;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code softrdma farm teller}: a machine without memory that makes transfers for {@code farm bank}, until its input ends. A
 * line {@code told COUNTER VALUE} says what a transfer was told.
 */
@Command(name = "teller", hidden = true, description = "Make transfers for `softrdma farm bank`.")
final class FarmTellerCommand implements Callable<Integer> {
    private static final int HEX = 16;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Mixin
    private ClusterOptions cluster = new ClusterOptions();

    @Option(names = "--account", split = ",", required = true, description = "Addresses of accounts, in hex.")
    private List<String> accounts = List.of();

    @Option(names = "--counter", split = ",", required = true, description = "Address of a counter for each thread.")
    private List<String> counters = List.of();

    @Option(names = "--seed", required = true, description = "Decides which transfers.")
    private long seed;

    private volatile boolean stopping;

    FarmTellerCommand() {}

    @Override
    public Integer call() {
        ProcessStop stop = new ProcessStop(new CountDownLatch(1));
        try (ClientOfCluster client =
                ClientOfCluster.join(provider, cluster.join(ClusterSettings.DEFAULT), stop::stop)) {
            say("machine " + client.node().machine() + " counts");
            List<Thread> threads = start(client.node().node());
            stop.await(System.in, line -> {});
            stopping = true;
            for (Thread thread : threads) {
                thread.join();
            }
            return client.node().isOver() ? ExitCode.FAILED : ExitCode.OK;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        } catch (VerbsException e) {
            return CommandFailure.tell(spec, e);
        } finally {
            stop.closed();
        }
    }

    private List<Thread> start(FarmNode node) {
        List<List<Long>> groups =
                Bank.groups(accounts.stream().map(FarmTellerCommand::address).toList());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < counters.size(); i++) {
            String counter = counters.get(i);
            Random random = new Random(seed + i);
            threads.add(Thread.ofPlatform()
                    .name("teller-" + i)
                    .start(() -> transfer(new Bank(node), groups, counter, random)));
        }
        return threads;
    }

    private void transfer(Bank bank, List<List<Long>> groups, String counter, Random random) {
        try {
            while (!stopping) {
                bank.transfer(groups.get(random.nextInt(groups.size())), address(counter), random)
                        .ifPresent(value -> say("told " + counter + " " + value));
            }
        } catch (FarmException e) {
            say("lost " + counter + " " + e.getMessage());
        }
    }

    /** A line; whole, whatever other threads say. */
    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.write(line + System.lineSeparator());
        out.flush();
    }

    private static long address(String hex) {
        return Long.parseUnsignedLong(hex, HEX);
    }
}
