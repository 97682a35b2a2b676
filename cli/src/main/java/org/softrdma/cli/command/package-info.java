/**
 * What subcommands share: exit codes, the choice of a provider, results in a file, this program as a child process.
 *
 * <p>Everything runs on the main thread. Read {@link org.softrdma.cli.command.ProviderMixin} first, then {@link
 * org.softrdma.cli.command.ExitCode}.
 */
@NullMarked
package org.softrdma.cli.command;

import org.jspecify.annotations.NullMarked;
