/**
 * What runs on the fabric of softrdma-sim beside bare devices: the conformance suite, random walks, and the store. This
 * is the one module that knows the store, the suite and the software RNIC.
 */
@NullMarked
package org.softrdma.fabric;

import org.jspecify.annotations.NullMarked;
