/**
 * The {@code softrdma} command: subcommands, messages for people, and the choice of a provider.
 *
 * <p>Everything runs on the main thread until a subcommand starts a part; only this package reads system properties.
 * Read {@link org.softrdma.cli.Main} first.
 */
@NullMarked
package org.softrdma.cli;

import org.jspecify.annotations.NullMarked;
