package org.softrdma.sanitiser.finding;

import java.io.Serial;
import java.util.function.Consumer;

/** Thrown for a finding, by a sanitiser with {@link #RAISE}. */
public final class FindingException extends IllegalStateException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** A consumer that throws each finding. */
    public static final Consumer<Finding> RAISE = finding -> {
        throw new FindingException(finding);
    };

    private final transient Finding finding;

    /** For a finding. */
    public FindingException(Finding finding) {
        super(finding.text());
        this.finding = finding;
    }

    /** The finding; not kept by serialization. */
    public Finding finding() {
        return finding;
    }
}
