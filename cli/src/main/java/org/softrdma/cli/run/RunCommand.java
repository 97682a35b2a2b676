package org.softrdma.cli.run;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.Signals;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.run.ProgramRun;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.host.HostCheck;
import org.softrdma.run.host.HostFinding;
import org.softrdma.run.host.RxeDriver;
import org.softrdma.run.host.Terminal;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.launch.LaunchFailureException;
import org.softrdma.run.launch.OwnDescriptors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softrdma run}: starts a program and plays the kernel for it. */
@Command(
        name = "run",
        description = {
            "Run an unmodified program with an RDMA card that does not exist. It sees the device rxe0, as on a machine"
                    + " with SoftRoCE. Needs no root, no kernel module and no container rights: Linux on x86-64, and"
                    + " the distribution's rdma-core.",
            "Programs connect by rdma_cm, or by addresses that they exchange themselves: with those of the same run, of"
                    + " another run, of a Java program on wire=roce, and of a kernel's SoftRoCE.",
            "With --faults the card fails as a plan says (docs/reference/fault-plans.md), which the program sees as"
                    + " the errno, the status or the event of a card. The same seed and the same calls in the same"
                    + " order have the same faults; what the threads of the program do, and when, is not ours to"
                    + " order."
        },
        footer = {
            "",
            "Ends with the program's exit code, with 128 and the signal's number if a signal ended it, with 127 if"
                    + " there is no such program, and with 126 if it cannot be run. Signals to this command are"
                    + " passed on. What the program leaves running ends with it.",
            "",
            "Examples:",
            "  softrdma run --check",
            "  softrdma run -- ibv_devinfo -v",
            "  softrdma run -- sh -c 'ls /sys/class/infiniband; fi_info -p verbs'",
            "  softrdma run -- ibv_rc_pingpong -e -g 0           (in another terminal:)",
            "  softrdma run -- ibv_rc_pingpong -e -g 0 127.0.0.1",
            "  softrdma run --faults plan.json --seed 7 --fault-log faults.txt -- ./program",
            "  softrdma run --control /tmp/card -- ./program     (in another terminal:)",
            "  echo list | nc -U -N /tmp/card"
        })
public final class RunCommand implements Callable<Integer> {
    /** Signals that are passed on, by the numbers that Linux has for them. */
    private static final Map<String, Integer> SIGNALS = Map.of("HUP", 1, "TERM", 15, "USR1", 10);

    private static final String INTERRUPT = "INT";
    private static final int INTERRUPT_NUMBER = 2;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--check",
            description = "Check whether this machine has what is needed, and say how to get what is missing.")
    private boolean check;

    @Mixin
    private FaultOptions faults = new FaultOptions();

    @Option(
            names = "--pcap",
            paramLabel = "FILE",
            description = "Capture the card's packets for Wireshark (pcapng). An existing file is replaced.")
    private @Nullable Path pcap;

    @Option(names = "--counters", description = "Print the card's counters on standard error at the end.")
    private boolean counters;

    @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "The program and its arguments.")
    private List<String> command = List.of();

    RunCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        String processor = System.getProperty("os.arch");
        if (check) {
            return check(HostCheck.all(processor));
        }
        if (command.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "Missing the program to run, or --check.");
        }
        Architecture architecture = Architecture.named(processor)
                .orElseThrow(
                        () -> new UserErrorException("this processor is " + processor + ": expected amd64 or aarch64"));
        HostFinding driver = RxeDriver.find();
        if (!driver.good()) {
            warn(driver.sentence());
        }
        OwnDescriptors.closeOnExec(ownFiles());
        Set<Integer> inherited = OwnDescriptors.open();
        try (FaultOptions.Opened opened = faults.open()) {
            OwnDescriptors.closeOnExecSince(inherited);
            CardSettings card = new CardSettings(opened.faults(), capture(), counters ? this::print : nobody -> {});
            ProgramRun run = new ProgramRun(architecture, RxeDevice.ofThisHost(), card, command);
            passSignals(run);
            return run.run();
        } catch (LaunchFailureException e) {
            warn(String.valueOf(e.getMessage()));
            return e.exitCode();
        } catch (SocketException e) {
            throw new UserErrorException("the network interfaces cannot be listed: " + e.getMessage(), e);
        }
    }

    /** Where packets go; what was there before is removed, because a card appends. */
    private Optional<Path> capture() {
        if (pcap != null) {
            try {
                boolean ignored = Files.deleteIfExists(pcap);
            } catch (IOException e) {
                throw new UserErrorException("--pcap " + pcap + ": cannot replace the file: " + e.getMessage(), e);
            }
        }
        return Optional.ofNullable(pcap);
    }

    /** On standard error: the output is the program's. */
    private void print(Map<String, Long> values) {
        PrintWriter err = spec.commandLine().getErr();
        new TreeMap<>(values).forEach((name, value) -> err.println(name + " " + value));
        err.flush();
    }

    /** What the JVM has open. */
    private static List<Path> ownFiles() {
        return Stream.concat(
                        Stream.of(System.getProperty("java.home")),
                        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1)))
                .filter(each -> !each.isEmpty())
                .map(Path::of)
                .toList();
    }

    /** On standard error: the output is the program's. */
    private void warn(String sentence) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(spec.qualifiedName() + ": " + sentence);
        err.flush();
    }

    private int check(List<HostFinding> findings) {
        PrintWriter out = spec.commandLine().getOut();
        for (HostFinding each : findings) {
            out.println(each.subject() + ": " + (each.good() ? "good: " : "NOT good: ") + each.sentence());
        }
        out.flush();
        return findings.stream().allMatch(HostFinding::good) ? ExitCode.OK : ExitCode.FAILED;
    }

    private static void passSignals(ProgramRun run) {
        SIGNALS.forEach((name, number) -> Signals.handle(name, () -> run.signal(number)));
        Signals.handle(INTERRUPT, () -> {
            if (!Terminal.sendsSignals()) {
                run.signal(INTERRUPT_NUMBER);
            }
        });
    }
}
