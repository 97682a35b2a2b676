package org.softrdma.cli.command;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.IVersionProvider;

/** The version from the jar's manifest, and the Java it runs on. */
public final class ProgramVersion implements IVersionProvider {
    ProgramVersion() {}

    @Override
    public String[] getVersion() {
        return new String[] {
            "softrdma " + number("(unpacked classes)"),
            Ansi.AUTO.string("Java " + Runtime.version() + ", " + System.getProperty("os.name") + " "
                    + System.getProperty("os.arch"))
        };
    }

    /**
     * The version alone.
     *
     * @param otherwise what to say where there is no manifest
     */
    public static String number(String otherwise) {
        @Nullable String version = ProgramVersion.class.getPackage().getImplementationVersion();
        return version == null ? otherwise : version;
    }
}
