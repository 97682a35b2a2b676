/** Tests of FaRM's table. */
@org.jspecify.annotations.NullMarked
package org.softrdma.farm.table;
