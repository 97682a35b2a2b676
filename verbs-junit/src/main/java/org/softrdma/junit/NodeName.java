package org.softrdma.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the node that a parameter of a {@link FabricTest} is, or whose device it is. Parameters of one name have the
 * same node, and the same device; a fault plan knows the node by this name.
 */
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface NodeName {
    /** The name. */
    String value();
}
