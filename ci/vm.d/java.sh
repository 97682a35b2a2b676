# A JVM and this checkout's jar in the guest, on a disk of their own. Sourced after lib.sh by the suites that need them.
#
# vm_java_disk makes the disk; call it before vm_boot. guest_java and guest_java_start run shell in the guest in which `softrdma` is the
# command and `program CLASS` runs a class of the disk.

VM_MEMORY_MB=2048
# Under emulation compiling costs more than it gains in a run of seconds, and a second garbage collector thread has no core.
GUEST_JAVA='-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx768m -XX:-UsePerfData'
[ -z "${LIBDISNI:-}" ] || GUEST_JAVA="$GUEST_JAVA -Djava.library.path=/tmp/java"
JAVA_PROLOGUE="[ -e /tmp/java/softrdma.jar ] || { mkdir -p /tmp/java; mount -t ext4 -o ro /dev/vdb /tmp/java; }
ulimit -l unlimited
softrdma() { /tmp/java/jdk/bin/java $GUEST_JAVA -jar /tmp/java/softrdma.jar \"\$@\"; }
program() { /tmp/java/jdk/bin/java $GUEST_JAVA --enable-native-access=ALL-UNNAMED --add-exports java.base/jdk.internal.misc=ALL-UNNAMED --add-exports java.base/sun.nio.ch=ALL-UNNAMED \\
    -cp /tmp/java/softrdma.jar:/tmp/java/classes \"\$@\"; }"

# vm_java_disk [SOURCE...]: the JDK that builds this project, without what only a compiler needs, the jar, the libdisni.so that LIBDISNI
# names, and programs compiled for it.
vm_java_disk() {
    local disk="$VM_WORK/java" size
    need mke2fs
    find_jdk
    PATH="$PATH:/usr/sbin:/sbin"
    mkdir -p "$disk/jdk/bin"
    cp "$JAVA_HOME/bin/java" "$disk/jdk/bin/"
    cp -r "$JAVA_HOME/lib" "$JAVA_HOME/conf" "$disk/jdk/"
    rm -rf "$disk/jdk/lib/src.zip" "$disk/jdk/lib/ct.sym"
    cp "$SOFTRDMA_JAR" "$disk/softrdma.jar"
    [ -z "${LIBDISNI:-}" ] || cp "$LIBDISNI" "$disk/libdisni.so"
    mkdir "$disk/classes"
    [ $# -eq 0 ] || "$JAVA_HOME/bin/javac" -cp "$SOFTRDMA_JAR" -d "$disk/classes" "$@"
    size=$(du -sm "$disk" | cut -f 1)
    mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$disk" "$disk.img" "$((size + size / 8 + 16))M" >/dev/null
    rm -r "$disk"
    VM_OPTIONS="-drive file=$disk.img,if=virtio,format=raw,readonly=on"
}

# guest_java SECONDS COMMAND: runs a line of shell in which `softrdma` is the command.
guest_java() { guest "$1" "$JAVA_PROLOGUE
$2"; }

# guest_java_start NAME COMMAND: starts it.
guest_java_start() { guest_start "$1" "$JAVA_PROLOGUE
$2"; }
