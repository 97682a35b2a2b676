/** The conformance suite through the sanitiser. */
@NullMarked
package org.softrdma.sanitiser.conformance;

import org.jspecify.annotations.NullMarked;
