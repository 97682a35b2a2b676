/** Tests of what the stores have in common, and how they run on the fabric. */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores;
