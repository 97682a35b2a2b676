/**
 * Messages between machines: their header, what they ask for, and what answers say.
 *
 * <p>Stateless. Read {@link org.softrdma.farm.message.NodeMessageDescriptor} first.
 */
@NullMarked
package org.softrdma.farm.message;

import org.jspecify.annotations.NullMarked;
