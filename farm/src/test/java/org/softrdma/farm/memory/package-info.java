/** Tests of FaRM's memory. */
@org.jspecify.annotations.NullMarked
package org.softrdma.farm.memory;
