import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.NestHostAttribute;
import java.lang.classfile.attribute.NestMembersAttribute;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Replaces the lambdas and method references of compiled classes by classes, as javac did before invokedynamic. The JVM makes the
 * class of a lambda when it is first used; if there is no memory then, that place throws BootstrapMethodError for as long as the
 * process lives (LambdaMetafactory wraps the OutOfMemoryError, and the JVM keeps the outcome). A class that is there can be loaded
 * in advance, or again.
 *
 * <pre>
 *   java -cp CLASSPATH LambdasAsClasses.java CLASSES LIST
 *     CLASSES   a directory of class files, which are changed; those that were changed before stay as they are
 *     LIST      the file below CLASSES that names the new classes, one a line
 * </pre>
 *
 * The class path has what the classes name.
 */
public final class LambdasAsClasses {
    private static final String MARK = "$$Lambda$";
    private static final String SUFFIX = ".class";
    private static final ClassDesc METAFACTORY = ClassDesc.of("java.lang.invoke.LambdaMetafactory");
    private static final String FACTORY = "of";
    private static final String KEPT = "kept";

    private final Path root;
    private final ClassFile classFile;
    private final Map<String, byte[]> written = new TreeMap<>();
    private final Map<String, Set<ClassDesc>> newMembers = new TreeMap<>();

    private LambdasAsClasses(Path root) {
        this.root = root;
        classFile = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(
                        LambdasAsClasses::resource)
                .orElse(ClassHierarchyResolver.defaultResolver())
                .cached()));
    }

    private static InputStream resource(ClassDesc name) {
        String descriptor = name.descriptorString();
        return ClassLoader.getSystemClassLoader()
                .getResourceAsStream(descriptor.substring(1, descriptor.length() - 1) + SUFFIX);
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            System.err.println("LambdasAsClasses: expected CLASSES LIST, not " + arguments.length + " arguments");
            System.exit(2);
        }
        new LambdasAsClasses(Path.of(arguments[0])).run(arguments[1]);
    }

    private void run(String list) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
        }
        for (Path file : files) {
            replaceIn(file);
        }
        for (Map.Entry<String, Set<ClassDesc>> host : newMembers.entrySet()) {
            addMembers(host.getKey(), host.getValue());
        }
        for (Map.Entry<String, byte[]> file : written.entrySet()) {
            Files.write(root.resolve(file.getKey() + SUFFIX), file.getValue());
        }
        List<String> names;
        try (Stream<Path> all = Files.walk(root)) {
            names = all.map(file -> root.relativize(file).toString())
                    .filter(file -> file.contains(MARK) && file.endsWith(SUFFIX))
                    .map(file -> file.substring(0, file.length() - SUFFIX.length()).replace('/', '.'))
                    .sorted()
                    .toList();
        }
        Path to = root.resolve(list);
        if (!Files.exists(to) || !Files.readAllLines(to).equals(names)) { // a file that is newer makes a new jar
            Files.createDirectories(to.getParent());
            Files.write(to, names);
        }
    }

    // ---- classes that have lambdas

    private void replaceIn(Path file) throws IOException {
        ClassModel model = classFile.parse(file);
        if (model.methods().stream().noneMatch(LambdasAsClasses::hasLambda)) {
            return;
        }
        String outer = model.thisClass().asInternalName();
        String host = model.findAttribute(Attributes.nestHost())
                .map(NestHostAttribute::nestHost)
                .map(ClassEntry::asInternalName)
                .orElse(outer);
        String source = model.findAttribute(Attributes.sourceFile())
                .map(attribute -> attribute.sourceFile().stringValue())
                .orElse("");
        removeOld(outer);
        int[] count = {0};
        ClassTransform methods = (builder, element) -> {
            if (element instanceof MethodModel method && hasLambda(method)) {
                int first = count[0];
                count[0] += lambdasOf(method);
                builder.transformMethod(
                        method,
                        MethodTransform.transformingCode(
                                CodeTransform.ofStateful(() -> replacing(outer, host, source, first))));
            } else {
                builder.with(element);
            }
        };
        written.put(outer, classFile.transformClass(model, methods));
    }

    /** A new one for each pass over a method: there are two if a jump is too long. */
    private CodeTransform replacing(String outer, String host, String source, int first) {
        int[] next = {first};
        return (builder, element) -> {
            if (element instanceof InvokeDynamicInstruction call && isLambda(call)) {
                ClassDesc name = ClassDesc.ofInternalName(outer + MARK + next[0]++);
                write(name, host, source, call);
                builder.invokestatic(name, FACTORY, call.typeSymbol());
            } else {
                builder.with(element);
            }
        };
    }

    private static boolean hasLambda(MethodModel method) {
        return lambdasOf(method) > 0;
    }

    private static int lambdasOf(MethodModel method) {
        return (int) method.code().stream()
                .flatMap(code -> code.elementStream())
                .filter(element -> element instanceof InvokeDynamicInstruction call && isLambda(call))
                .count();
    }

    private void removeOld(String outer) throws IOException {
        Path folder = root.resolve(outer).getParent();
        String start = outer.substring(outer.lastIndexOf('/') + 1) + MARK;
        try (Stream<Path> all = Files.list(folder)) {
            for (Path file : all.toList()) {
                if (file.getFileName().toString().startsWith(start)) {
                    Files.delete(file);
                }
            }
        }
    }

    private static boolean isLambda(InvokeDynamicInstruction call) {
        if (!call.bootstrapMethod().owner().equals(METAFACTORY)) {
            return false;
        }
        if (!call.bootstrapMethod().methodName().equals("metafactory")) {
            throw new IllegalArgumentException("a lambda that is serializable or has several interfaces: " + call);
        }
        return true;
    }

    private void addMembers(String host, Set<ClassDesc> members) throws IOException {
        byte[] bytes = written.containsKey(host) ? written.get(host) : Files.readAllBytes(root.resolve(host + SUFFIX));
        ClassModel model = classFile.parse(bytes);
        List<ClassDesc> all = new ArrayList<>(model.findAttribute(Attributes.nestMembers())
                .map(NestMembersAttribute::nestMembers)
                .orElse(List.of())
                .stream()
                .map(ClassEntry::asSymbol)
                .filter(member -> !members.contains(member))
                .toList());
        all.addAll(members);
        written.put(
                host,
                classFile.transformClass(
                        model,
                        ClassTransform.dropping(element -> element instanceof NestMembersAttribute)
                                .andThen(ClassTransform.endHandler(
                                        builder -> builder.with(NestMembersAttribute.ofSymbols(all))))));
    }

    // ---- the class of a lambda

    private void write(ClassDesc name, String host, String source, InvokeDynamicInstruction call) {
        MethodTypeDesc captured = call.typeSymbol();
        MethodTypeDesc erased = (MethodTypeDesc) call.bootstrapArgs().get(0);
        DirectMethodHandleDesc target = (DirectMethodHandleDesc) call.bootstrapArgs().get(1);
        MethodTypeDesc exact = (MethodTypeDesc) call.bootstrapArgs().get(2);
        boolean kept = captured.parameterCount() == 0;
        MethodTypeDesc make = captured.changeReturnType(CD_void);
        byte[] bytes = classFile.build(name, builder -> {
            builder.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER | ClassFile.ACC_SYNTHETIC)
                    .withInterfaceSymbols(captured.returnType())
                    .with(NestHostAttribute.of(ClassDesc.ofInternalName(host)))
                    .with(SourceFileAttribute.of(source));
            for (int i = 0; i < captured.parameterCount(); i++) {
                builder.withField("c" + i, captured.parameterType(i), ClassFile.ACC_PRIVATE | ClassFile.ACC_FINAL);
            }
            if (kept) { // no static initialiser: one that fails breaks the class for good
                builder.withField(KEPT, name, ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC);
            }
            builder.withMethodBody(INIT_NAME, make, ClassFile.ACC_PRIVATE, code -> {
                code.aload(0).invokespecial(CD_Object, INIT_NAME, MethodTypeDesc.of(CD_void));
                for (int i = 0; i < make.parameterCount(); i++) {
                    ClassDesc type = make.parameterType(i);
                    code.aload(0)
                            .loadLocal(TypeKind.from(type), code.parameterSlot(i))
                            .putfield(name, "c" + i, type);
                }
                code.return_();
            });
            builder.withMethodBody(FACTORY, captured, ClassFile.ACC_STATIC, code -> {
                Label missing = code.newLabel();
                if (kept) {
                    code.getstatic(name, KEPT, name).ifnull(missing).getstatic(name, KEPT, name).areturn();
                    code.labelBinding(missing);
                }
                code.new_(name).dup();
                for (int i = 0; i < captured.parameterCount(); i++) {
                    code.loadLocal(TypeKind.from(captured.parameterType(i)), code.parameterSlot(i));
                }
                code.invokespecial(name, INIT_NAME, make);
                if (kept) {
                    code.dup().putstatic(name, KEPT, name);
                }
                code.areturn();
            });
            builder.withMethodBody(
                    call.name().stringValue(),
                    erased,
                    ClassFile.ACC_PUBLIC,
                    code -> callTarget(code, name, captured, erased, exact, target));
        });
        written.put(name.descriptorString().substring(1, name.descriptorString().length() - 1), bytes);
        newMembers.computeIfAbsent(host, ignored -> new LinkedHashSet<>()).add(name);
    }

    private static void callTarget(
            CodeBuilder code,
            ClassDesc name,
            MethodTypeDesc captured,
            MethodTypeDesc erased,
            MethodTypeDesc exact,
            DirectMethodHandleDesc target) {
        MethodTypeDesc takes = target.invocationType(); // with the receiver in front
        boolean constructor = target.kind() == DirectMethodHandleDesc.Kind.CONSTRUCTOR;
        if (constructor) {
            code.new_(target.owner()).dup();
        }
        for (int i = 0; i < captured.parameterCount(); i++) {
            code.aload(0).getfield(name, "c" + i, captured.parameterType(i));
        }
        for (int i = 0; i < erased.parameterCount(); i++) {
            ClassDesc from = erased.parameterType(i);
            code.loadLocal(TypeKind.from(from), code.parameterSlot(i));
            convert(code, from, exact.parameterType(i), takes.parameterType(captured.parameterCount() + i));
        }
        MethodTypeDesc plain = MethodTypeDesc.ofDescriptor(target.lookupDescriptor());
        boolean ofInterface = target.isOwnerInterface();
        switch (target.kind()) {
            case STATIC, INTERFACE_STATIC -> code.invokestatic(target.owner(), target.methodName(), plain, ofInterface);
            case CONSTRUCTOR -> code.invokespecial(target.owner(), INIT_NAME, plain);
            default -> {
                if (ofInterface) {
                    code.invokeinterface(target.owner(), target.methodName(), plain);
                } else {
                    code.invokevirtual(target.owner(), target.methodName(), plain);
                }
            }
        }
        ClassDesc result = takes.returnType();
        ClassDesc wanted = erased.returnType();
        if (wanted.equals(CD_void)) {
            if (!result.equals(CD_void)) {
                if (TypeKind.from(result).slotSize() == 2) {
                    code.pop2();
                } else {
                    code.pop();
                }
            }
            code.return_();
        } else {
            convert(code, result, exact.returnType(), wanted);
            code.return_(TypeKind.from(wanted));
        }
    }

    /** From a type by another, which says what it is, to a third: casts, boxes, unboxes and widens. */
    private static void convert(CodeBuilder code, ClassDesc from, ClassDesc by, ClassDesc to) {
        if (from.isPrimitive() && to.isPrimitive()) {
            widen(code, from, to);
        } else if (from.isPrimitive()) {
            ClassDesc box = boxOf(from);
            code.invokestatic(box, "valueOf", MethodTypeDesc.of(box, from));
        } else if (to.isPrimitive()) {
            ClassDesc box = by.isPrimitive() ? boxOf(by) : unboxed(by) == null ? boxOf(to) : by;
            ClassDesc value = unboxed(box);
            code.checkcast(box).invokevirtual(box, value.displayName() + "Value", MethodTypeDesc.of(value));
            widen(code, value, to);
        } else if (!to.equals(CD_Object) && !to.equals(from)) {
            code.checkcast(to);
        }
    }

    private static void widen(CodeBuilder code, ClassDesc from, ClassDesc to) {
        TypeKind value = TypeKind.from(from).asLoadable();
        TypeKind wanted = TypeKind.from(to).asLoadable();
        if (value != wanted) {
            code.conversion(value, wanted);
        }
    }

    private static final Map<String, String> BOXES = Map.of(
            "Z", "Boolean", "B", "Byte", "C", "Character", "S", "Short", "I", "Integer", "J", "Long", "F", "Float", "D", "Double");

    private static ClassDesc boxOf(ClassDesc primitive) {
        return ClassDesc.of("java.lang." + BOXES.get(primitive.descriptorString()));
    }

    private static ClassDesc unboxed(ClassDesc box) {
        for (Map.Entry<String, String> entry : BOXES.entrySet()) {
            if (box.equals(ClassDesc.of("java.lang." + entry.getValue()))) {
                return ClassDesc.ofDescriptor(entry.getKey());
            }
        }
        return null;
    }
}
