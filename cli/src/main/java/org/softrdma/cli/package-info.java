/**
 * The {@code softrdma} command: {@code main}, the list of subcommands, help, and what a wrong command line is told.
 *
 * <p>Everything runs on the main thread until a subcommand starts a part; only this package and those below it read system
 * properties. Read {@link org.softrdma.cli.Main} first.
 */
@NullMarked
package org.softrdma.cli;

import org.jspecify.annotations.NullMarked;
