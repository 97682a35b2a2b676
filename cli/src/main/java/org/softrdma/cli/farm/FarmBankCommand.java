package org.softrdma.cli.farm;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cluster.ClusterException;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.cluster.ClusterView;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.node.FarmException;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code softrdma farm bank}: transfers on a cluster whose processes are killed. */
@Command(
        name = "bank",
        description = {
            "Run a cluster on this machine, make transfers between accounts, and kill processes meanwhile.",
            "The sum of each group of accounts is read again and again, in one transaction. Every transfer increments"
                    + " its teller's counter; at the end each counter is compared with the number of commits that the"
                    + " teller saw, none of which may be lost."
        })
final class FarmBankCommand implements Callable<Integer> {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(120);

    /** What is killed. */
    enum Victim {
        NODE,
        COORDINATOR,
        ZOOKEEPER,
        MAJORITY
    }

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Mixin
    private SpaceOptions space = new SpaceOptions();

    @Option(
            names = "--kill",
            paramLabel = "node|coordinator|zookeeper|majority",
            description =
                    "What to kill by SIGKILL (nothing). node: a machine that has regions; coordinator: one that makes"
                            + " transfers; another is started in its place. zookeeper: ZooKeeper's leader, which is"
                            + " restarted. majority: more than half of ZooKeeper's servers, restarted once nothing"
                            + " has been committed for two sessions. The next kill follows when the cluster is whole.")
    private @Nullable Victim victim;

    @Mixin
    private ZooKeepersOption zookeepers = new ZooKeepersOption();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "20",
            description = "How long to make transfers (${DEFAULT-VALUE}).")
    private long seconds;

    @Option(
            names = "--groups",
            paramLabel = "N",
            defaultValue = "16",
            description = "Number of groups of four accounts; transfers stay within a group (${DEFAULT-VALUE}).")
    private int groups;

    @Option(
            names = "--tellers",
            paramLabel = "N",
            defaultValue = "2",
            description = "Number of processes that make transfers (${DEFAULT-VALUE}).")
    private int tellers;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "4",
            description = "Concurrent transfers of each process (${DEFAULT-VALUE}).")
    private int threads;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of transfers and kills (random).")
    private @Nullable Long seed;

    FarmBankCommand() {}

    @Override
    public Integer call() {
        if (groups < 1 || tellers < 1 || threads < 1 || seconds < 1) {
            throw new UserErrorException("expected --groups 1, --tellers 1, --threads 1, --seconds 1, or more");
        }
        ClusterSettings settings = space.settings();
        if (victim == Victim.NODE && settings.replicas() < 2) {
            throw new UserErrorException(
                    "--kill node needs --replicas 2 or more: else what the machine had is lost with it");
        }
        try {
            // This process is a machine too, without memory: it opens accounts, and reads them.
            LocalCluster.run(
                    spec,
                    provider,
                    settings,
                    zookeepers.count(),
                    (cluster, view, client) ->
                            new Run(cluster, view, new Bank(client.node().node())).run());
            return ExitCode.OK;
        } catch (MeasurementException | ClusterException | FarmException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
    }

    /** A run. */
    private final class Run {
        private final LocalCluster cluster;
        private final ClusterView view;
        private final ClusterSettings settings;
        private final Bank bank;
        private final long drawn = seed == null ? System.nanoTime() : seed;
        private final Random random = new Random(drawn);
        private final CommitGap gap = new CommitGap();
        private final List<BankTeller> working = new ArrayList<>();
        private final List<BankTeller> gone = new ArrayList<>();
        private final List<Long> outagesNs = new ArrayList<>();
        private final PrintWriter out = spec.commandLine().getOut();
        private List<Long> accounts = List.of();
        private int audits;
        private long workedNs;
        private boolean killed;
        /** How often each machine had renewed its lease when the cluster was whole again. */
        private Map<Integer, Integer> renewals = Map.of();

        private boolean renewed;
        private long renewedNs;

        Run(LocalCluster cluster, ClusterView view, Bank bank) {
            this.cluster = cluster;
            this.view = view;
            this.bank = bank;
            settings = view.settings();
        }

        void run() {
            try {
                accounts = bank.openGroups(groups);
                for (int i = 0; i < tellers; i++) {
                    hire();
                }
                say("bank: " + accounts.size() + " accounts of " + Bank.BALANCE + " on "
                        + cluster.machines().size()
                        + " machines, " + settings + "; " + tellers + " tellers with " + threads
                        + " threads; seed=" + drawn);
                work();
                working.forEach(BankTeller::close);
                judge();
            } finally {
                CloseHelper.closeAll(working);
            }
        }

        private void say(String line) {
            out.println(line);
            out.flush();
        }

        private void hire() {
            working.add(BankTeller.start(cluster, accounts, bank.open(threads, 0), random.nextLong(), gap));
        }

        private void work() {
            long beganNs = System.nanoTime();
            long endNs = beganNs + TimeUnit.SECONDS.toNanos(seconds);
            long killedNs = beganNs;
            while (System.nanoTime() - endNs < 0 || killed || isKillDue(endNs)) {
                readSums();
                cluster.requireAlive();
                working.forEach(BankTeller::requireAlive);
                boolean whole = isWhole();
                if (killed && whole && goesOn()) {
                    killed = false;
                    outagesNs.add(gap.longestNs());
                    say(String.format(
                            Locale.ROOT,
                            "  %.1f s without a commit, whole again after %.1f s",
                            seconds(gap.longestNs()),
                            seconds(System.nanoTime() - killedNs)));
                } else if (!killed && whole && isKillDue(endNs)) {
                    killedNs = System.nanoTime();
                    kill(Objects.requireNonNull(victim));
                } else if (!whole && System.nanoTime() - killedNs > PATIENCE_NS && (killed || isKillDue(endNs))) {
                    throw new MeasurementException("the cluster is not whole after "
                            + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS) + " s" + LocalCluster.ADVICE);
                }
                LockSupport.parkNanos(LOOK_NS);
            }
            workedNs = System.nanoTime() - beganNs;
        }

        /** Whoever asks for kills gets one, however slow the machine is. */
        private boolean isKillDue(long endNs) {
            return victim != null && (System.nanoTime() - endNs < 0 || outagesNs.isEmpty());
        }

        private static double seconds(long ns) {
            return ns / (double) TimeUnit.SECONDS.toNanos(1);
        }

        private void kill(Victim of) {
            killed = true;
            renewals = Map.of();
            gap.begin();
            String kill = "kill " + (outagesNs.size() + 1) + ": ";
            switch (of) {
                case NODE -> {
                    int machine = cluster.machines()
                            .get(random.nextInt(cluster.machines().size()));
                    say(kill + "machine " + machine + ", a node");
                    cluster.kill(machine);
                    cluster.addNodes(1);
                }
                case COORDINATOR -> {
                    BankTeller teller = working.remove(random.nextInt(working.size()));
                    say(kill + "machine " + teller.machine() + ", a coordinator");
                    teller.kill();
                    gone.add(teller);
                    hire();
                }
                case ZOOKEEPER -> {
                    int leader = cluster.zookeepers().kill(1);
                    say(kill + "server " + leader + " of ZooKeeper, which led");
                    cluster.zookeepers().restart();
                }
                case MAJORITY -> {
                    int count = cluster.zookeepers().count() / 2 + 1;
                    int leader = cluster.zookeepers().kill(count);
                    say(kill + count + " of " + cluster.zookeepers().count() + " servers of ZooKeeper, among them "
                            + leader + ", which led");
                    requireStandstill();
                    cluster.zookeepers().restart();
                }
            }
        }

        /** Nothing is committed when leases are over; what was under way then is, once in each thread. */
        private void requireStandstill() {
            long leaseNs = TimeUnit.MILLISECONDS.toNanos(settings.leaseMs());
            park(2 * leaseNs);
            long before = told();
            park(2 * leaseNs);
            long meanwhile = told() - before;
            say("  no majority: " + meanwhile + " transfers were acknowledged in "
                    + String.format(Locale.ROOT, "%.1f s", seconds(2 * leaseNs)));
            if (meanwhile > (long) tellers * threads) {
                throw new MeasurementException(meanwhile + " transfers were acknowledged although no lease was renewed."
                        + " This is a fault of softrdma; seed=" + drawn);
            }
        }

        private static void park(long ns) {
            for (long endNs = System.nanoTime() + ns; System.nanoTime() - endNs < 0; ) {
                LockSupport.parkNanos(endNs - System.nanoTime());
            }
        }

        private long told() {
            return Stream.concat(gone.stream(), working.stream())
                    .mapToLong(BankTeller::transfers)
                    .sum();
        }

        /** True once each machine has renewed its lease since the cluster was whole, and something was committed after that. */
        private boolean goesOn() {
            Map<Integer, Integer> now = view.renewals();
            if (renewals.isEmpty()) {
                renewals = now;
                renewed = false;
            } else if (!renewed
                    && now.entrySet().stream()
                            .noneMatch(machine -> machine.getValue().equals(renewals.get(machine.getKey())))) {
                renewed = true;
                renewedNs = System.nanoTime();
            }
            return renewed && gap.lastNs() - renewedNs > 0;
        }

        /**
         * True if all that are alive are members, those that are not are none, each region is on as many as it shall be, and
         * all servers of ZooKeeper serve.
         */
        private boolean isWhole() {
            if (!cluster.zookeepers().areServing()) {
                return false;
            }
            FarmConfiguration configuration = view.configuration();
            Set<Integer> living = new TreeSet<>(cluster.machines());
            working.forEach(teller -> living.add(teller.machine()));
            Set<Integer> members = new TreeSet<>(configuration.members());
            return view.active() == configuration.epoch()
                    && members.containsAll(living)
                    && members.size() == living.size() + 1
                    && configuration.regions().values().stream()
                            .allMatch(placement -> placement.copies().isEmpty()
                                    && placement.machines().size() == settings.replicas());
        }

        private void readSums() {
            for (List<Long> group : Bank.groups(accounts)) {
                OptionalLong sum = bank.sum(group);
                if (sum.isPresent()) {
                    audits++;
                    requireSum(sum.getAsLong(), group);
                }
            }
        }

        private void requireSum(long sum, List<Long> group) {
            if (sum != group.size() * Bank.BALANCE) {
                throw new MeasurementException("the sum of " + group.size() + " accounts is " + sum + ", but was "
                        + group.size() * Bank.BALANCE
                        + ": a transfer was done by half. This is a fault of softrdma; seed=" + drawn);
            }
        }

        /** Of all accounts, when nobody changes them any more. */
        private long lastSum(List<Long> objects) {
            long beganNs = System.nanoTime();
            OptionalLong sum = bank.sum(objects);
            while (sum.isEmpty()) {
                if (System.nanoTime() - beganNs > PATIENCE_NS) {
                    throw new MeasurementException("an account stays locked although nobody changes it any more. This"
                            + " is a fault of softrdma; seed=" + drawn);
                }
                sum = bank.sum(objects);
            }
            return sum.getAsLong();
        }

        private void judge() {
            List<BankTeller> all = new ArrayList<>(gone);
            all.addAll(working);
            long told = told();
            for (BankTeller teller : all) {
                teller.told().forEach((counter, value) -> requireTold(counter, value, gone.contains(teller)));
            }
            readSums();
            long sum = lastSum(accounts);
            requireSum(sum, accounts);
            say(told + " transfers were acknowledged, " + Math.round(told / seconds(workedNs))
                    + " a second; the sum is " + sum + ", and was right in " + audits + " audits of four accounts");
            say("kills survived: " + outagesNs.size() + outages() + "; nothing acknowledged is lost");
        }

        private String outages() {
            if (outagesNs.isEmpty()) {
                return "";
            }
            List<Long> sorted = outagesNs.stream().sorted().toList();
            return String.format(
                    Locale.ROOT,
                    ", without a commit for %.1f s in the median, %.1f s at worst",
                    seconds(sorted.get(sorted.size() / 2)),
                    seconds(sorted.getLast()));
        }

        /** What was under way when a teller was killed may be done, but nobody was told. */
        private void requireTold(long counter, long value, boolean wasKilled) {
            long found = lastSum(List.of(counter));
            long most = value + (wasKilled ? 1 : 0);
            if (found < value || found > most) {
                throw new MeasurementException(value + " transfers were acknowledged to a teller, but its counter says "
                        + found + ". This is a fault of softrdma; seed=" + drawn);
            }
        }
    }
}
