/** Tests of what clients of all designs do the same way. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.client;
