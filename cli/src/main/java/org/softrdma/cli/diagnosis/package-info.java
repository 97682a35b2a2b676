/**
 * Whether RDMA works here: the providers and why one is not usable, rping, the conformance suite, cases of interoperation.
 *
 * <p>Everything runs on the main thread until a provider starts threads of its own. Read {@link
 * org.softrdma.cli.diagnosis.ProvidersCommand} first.
 */
@NullMarked
package org.softrdma.cli.diagnosis;

import org.jspecify.annotations.NullMarked;
