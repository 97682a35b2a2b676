/** Tests of the messages to a scripted peer. */
@NullMarked
package org.softrdma.testkit.interop;

import org.jspecify.annotations.NullMarked;
