package org.softrdma.cli.server;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.softrdma.cli.command.ProgramVersion;
import org.softrdma.kv.server.KvServerContext;

/**
 * The version that memcached clients are told: that of the memcached whose behaviour is implemented, because most parse
 * the three numbers at the beginning, then ours. It ends with three numbers as well, because npm's memcached parses
 * those and crashes if there are none; so a snapshot does not say that it is one.
 */
final class ReportedVersion {
    private static final Pattern NUMBERS = Pattern.compile("\\d+\\.\\d+\\.\\d+");
    private static final String UNKNOWN = "0.0.0";

    private ReportedVersion() {}

    /** The version of this program. */
    static String here() {
        return of(ProgramVersion.number(UNKNOWN));
    }

    /**
     * The version of a program.
     *
     * @param own what its build says
     */
    static String of(String own) {
        Matcher numbers = NUMBERS.matcher(own);
        return KvServerContext.MEMCACHED_VERSION + "-softrdma-" + (numbers.find() ? numbers.group() : UNKNOWN);
    }
}
