package org.softrdma.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the node of a parameter of a {@link FabricTest}: the parameter is that node or its device. Parameters with the
 * same name share the node and the device; fault plans refer to the node by this name.
 */
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface NodeName {
    /** The name. */
    String value();
}
