package org.softrdma.cli.study;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.study.StudySetup;

/** Tells a person what the study does: lines, and a bar while it measures; where there is no terminal, lines only. */
final class TerminalProgress implements StudySetup.Progress {
    private static final int REFRESH_MILLIS = 500;

    private final PrintWriter err;
    private final boolean terminal;
    private @Nullable ProgressBar bar;
    private String lastSaid = "";

    TerminalProgress(PrintWriter err) {
        this.err = err;
        terminal = Optional.ofNullable(System.console())
                .filter(Console::isTerminal)
                .isPresent();
    }

    @Override
    public void say(String line) {
        err.println(line);
        err.flush();
    }

    @Override
    public void begin(int steps) {
        end();
        lastSaid = "";
        if (terminal) {
            bar = new ProgressBarBuilder()
                    .setTaskName("measuring")
                    .setInitialMax(steps)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setUpdateIntervalMillis(REFRESH_MILLIS)
                    .build();
        } else {
            say("measuring, " + steps + " steps");
        }
    }

    @Override
    public void step(String what) {
        if (bar != null) {
            bar.setExtraMessage(what).step();
        } else if (!what.equals(lastSaid)) {
            lastSaid = what;
            say("  " + what);
        }
    }

    @Override
    public void end() {
        if (bar != null) {
            bar.close();
            bar = null;
        }
    }
}
