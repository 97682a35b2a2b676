package org.softrdma.bench.wimpy;

import java.io.PrintWriter;
import java.util.List;
import java.util.function.Consumer;
import org.softrdma.bench.cpu.MachineDescription;
import org.softrdma.bench.perf.DeviceFactory;

/**
 * What the study needs from {@code main}.
 *
 * @param devices opens the device of the load
 * @param provider name of the provider, for the report
 * @param server the command that runs {@code softrdma server} on the same provider
 * @param machine what the study runs on
 * @param out where the table goes
 * @param progress told what happens, one line each
 */
public record WimpySetup(
        DeviceFactory devices,
        String provider,
        List<String> server,
        MachineDescription machine,
        PrintWriter out,
        Consumer<String> progress) {
    /** Copies the list. */
    public WimpySetup {
        server = List.copyOf(server);
    }
}
