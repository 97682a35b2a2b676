/** Tests of what applications hold: requests, completions, opcodes. */
@NullMarked
package org.softrdma.verbs;

import org.jspecify.annotations.NullMarked;
