/** Each rule that a program can break, planted; and programs that break none. Read {@code PlantedFaultsTest} first. */
@NullMarked
package org.softrdma.sanitiser;

import org.jspecify.annotations.NullMarked;
