package org.softrdma.cli.server;

/** What becomes of an option of memcached. */
enum Treatment {
    /** It does what it does there, or what it asks for holds anyway. */
    WORKS("works"),
    /** The server starts, and says that the option has no effect. */
    WARNED("accepted with a warning"),
    /** The server does not start, and says why. */
    REFUSED("refused");

    private final String text;

    Treatment(String text) {
        this.text = text;
    }

    /** As the reference says it. */
    String text() {
        return text;
    }
}
