# Shared by the launcher and the scripts in ci/: where the JDK is, whether the jar is fresh, how to build it.
# Sourced, never run. Needs bash 3.2 (macOS) and nothing else. Callers set SOFTRDMA_ROOT first.

SOFTRDMA_JDK_FLOOR=25
SOFTRDMA_JAR="$SOFTRDMA_ROOT/cli/target/softrdma.jar"
# For a command that ends before the second compiler would pay.
SHORT_COMMAND_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# jdk_major DIR: prints the major version of the JDK in DIR, from its release file (no JVM is started).
jdk_major() {
    local line version=
    [ -x "$1/bin/javac" ] && [ -x "$1/bin/java" ] || return 1
    if [ -r "$1/release" ]; then
        while IFS= read -r line; do
            case "$line" in JAVA_VERSION=*) version=${line#*=}; break ;; esac
        done <"$1/release"
    fi
    if [ -z "$version" ]; then
        version=$("$1/bin/javac" -version 2>&1) || return 1
        version=${version#javac }
    fi
    version=${version//\"/}
    version=${version%%[.+-]*}
    case "$version" in '' | *[!0-9]*) return 1 ;; esac
    printf '%s\n' "$version"
}

# find_jdk: sets and exports JAVA_HOME to a JDK that is new enough, or ends with one sentence.
# Order: JAVA_HOME, the java on PATH, then the places where JDKs are installed (exactly 25 before newer ones).
find_jdk() {
    local dir major java best= best_major= seen=
    if [ -n "${JAVA_HOME:-}" ]; then
        if major=$(jdk_major "$JAVA_HOME") && [ "$major" -ge "$SOFTRDMA_JDK_FLOOR" ]; then
            export JAVA_HOME
            return 0
        fi
        seen=" (JAVA_HOME is ${major:+JDK }${major:-not a JDK})"
    fi
    if java=$(command -v javac 2>/dev/null); then
        java=$(readlink -f "$java" 2>/dev/null || printf '%s\n' "$java")
        dir=${java%/bin/javac}
        if major=$(jdk_major "$dir") && [ "$major" -ge "$SOFTRDMA_JDK_FLOOR" ]; then
            export JAVA_HOME="$dir"
            return 0
        fi
    fi
    for dir in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* "${HOME:-/nonexistent}"/.sdkman/candidates/java/* \
        "${HOME:-/nonexistent}"/.jdks/* /Library/Java/JavaVirtualMachines/*/Contents/Home \
        "${HOME:-/nonexistent}"/Library/Java/JavaVirtualMachines/*/Contents/Home \
        /opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home \
        /usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home; do
        [ -d "$dir" ] || continue
        major=$(jdk_major "$dir") || continue
        [ "$major" -ge "$SOFTRDMA_JDK_FLOOR" ] || continue
        if [ -z "$best" ] || [ "$major" -lt "$best_major" ]; then best=$dir best_major=$major; fi
    done
    if [ -n "$best" ]; then
        export JAVA_HOME="$best"
        return 0
    fi
    die "needs a JDK $SOFTRDMA_JDK_FLOOR or newer and found none$seen: install one (for example Temurin" \
        "$SOFTRDMA_JDK_FLOOR, https://adoptium.net) or set JAVA_HOME to it."
}

need_maven() {
    command -v mvn >/dev/null 2>&1 ||
        die "needs Maven 3.8.7 or newer to build and found no mvn on PATH: install it (Debian: apt-get install maven)."
}

# Inputs of the jar: every pom and everything under a src/main, directories too (a deleted file touches its directory).
jar_is_stale() {
    [ -f "$SOFTRDMA_JAR" ] || return 0
    [ -n "$(cd "$SOFTRDMA_ROOT" && find LICENSE pom.xml ./*/pom.xml ./*/src/main -newer "$SOFTRDMA_JAR" -print 2>/dev/null |
        head -n 1)" ]
}

# One build at a time per clone; the lock is on pom.xml, so it leaves no file behind. Held until the shell ends or
# unlock_build. Without flock (macOS) builds are not serialised.
lock_build() {
    command -v flock >/dev/null 2>&1 || return 0
    exec 9<"$SOFTRDMA_ROOT/pom.xml"
    flock -n 9 && return 0
    say "${0##*/}: waiting for another build of this clone"
    flock 9
}
unlock_build() { exec 9<&-; }

# build_jar: builds the executable jar without running tests; quiet, and on failure shows the tail of Maven's log.
build_jar() {
    local log started
    [ -z "${SOFTRDMA_NO_BUILD:-}" ] || {
        [ -f "$SOFTRDMA_JAR" ] && return 0
        die "the jar is missing and SOFTRDMA_NO_BUILD is set: unset it, or run mvn package first."
    }
    lock_build
    if jar_is_stale; then
        need_maven
        started=$(mktemp "${TMPDIR:-/tmp}/softrdma-started.XXXXXX")
        log=$(mktemp "${TMPDIR:-/tmp}/softrdma-build.XXXXXX")
        say "softrdma: building the jar (the first build downloads its dependencies) ..."
        if ! (cd "$SOFTRDMA_ROOT" && mvn -B -ntp -Dmaven.test.skip=true -pl cli -am package 9<&- </dev/null >"$log" 2>&1); then
            grep -Ev '^\[INFO\]|sun\.misc\.Unsafe|^WARNING: Please|^\[ERROR\] (-> |\[Help|To see|Re-run|For more|After|  mvn)|^\[ERROR\] $' \
                "$log" | tail -n 40 >&2
            rm -f "$started"
            die "the build failed; the end of Maven's output is above, all of it is in $log"
        fi
        touch -r "$started" "$SOFTRDMA_JAR" # what was edited during the build is newer than the jar
        rm -f "$started" "$log"
        make_class_archive
    fi
    unlock_build
}

# find_class_archive [run]: sets CLASS_ARCHIVE to the file beside the jar that holds the classes of a short command, or of `run`, as this JDK
# has them in memory (class data sharing). Each JDK has its own.
find_class_archive() {
    local sum
    CLASS_ARCHIVE=
    [ -r "$JAVA_HOME/release" ] || return 0
    sum=$(cksum <"$JAVA_HOME/release")
    CLASS_ARCHIVE="${SOFTRDMA_JAR%.jar}-${sum%% *}${1:+-$1}.jsa"
}

# make_class_archive: makes them, with the classes of a program that is run, and opens the card if there is one that does, and of a client that
# finds no server. They are not needed: if that fails, a file stays empty, and the launcher does without.
make_class_archive() {
    find_class_archive run
    archive_classes run -- sh -c 'ibv_rc_pingpong -p 1 -g 0 127.0.0.1; true' # nobody listens: it opens the card, and ends
    find_class_archive
    archive_classes kv get -s 127.0.0.1:1 key
}

archive_classes() { # archive_classes ARGUMENT...: makes CLASS_ARCHIVE with the classes of this command, in a minute or not at all
    local unfinished limit=
    [ -n "$CLASS_ARCHIVE" ] || return 0
    unfinished=$CLASS_ARCHIVE.$$
    if command -v timeout >/dev/null 2>&1; then limit="timeout --kill-after=1 60"; fi
    # shellcheck disable=SC2086
    $limit "$JAVA_HOME/bin/java" -XX:ArchiveClassesAtExit="$unfinished" $SHORT_COMMAND_OPTIONS -jar "$SOFTRDMA_JAR" "$@" \
        </dev/null >/dev/null 2>&1 9<&- || true
    [ -f "$unfinished" ] || : 2>/dev/null >"$unfinished" || return 0
    mv -f "$unfinished" "$CLASS_ARCHIVE"
}

# has_class_archive [run]: true if it is there and no older than the jar. Whether it fits is the JVM's to see, which else does without.
has_class_archive() {
    find_class_archive "${1:-}"
    [ -n "$CLASS_ARCHIVE" ] && [ -f "$CLASS_ARCHIVE" ] && [ -s "$CLASS_ARCHIVE" ] && [ -r "$CLASS_ARCHIVE" ] &&
        [ "$CLASS_ARCHIVE" -nt "$SOFTRDMA_JAR" ]
}

# failed_tests SINCE: what Surefire's reports newer than the file SINCE say of tests that failed, with their stack traces, and where the
# output of their classes is. Lines that begin with [ERROR] are what .ci/run repeats after its summary.
failed_tests() {
    local report output count=0
    for report in "$SOFTRDMA_ROOT"/*/target/surefire-reports/*.txt; do
        case "$report" in *-output.txt) continue ;; esac
        [ "$report" -nt "$1" ] && grep -qE '<<< (FAILURE|ERROR)!' "$report" || continue
        count=$((count + 1))
        [ $count -le 10 ] || continue
        output=${report%.txt}-output.txt
        say ""
        sed -n -e 's/\(.*\)<<< \(FAILURE\|ERROR\)!.*/[ERROR] failed: \1/' -e '5,64p' "$report" >&2
        [ ! -f "$output" ] || say "[ERROR] its output is in ${output#"$SOFTRDMA_ROOT"/}"
    done
    [ $count -le 10 ] || say "[ERROR] $((count - 10)) more test classes failed: see target/surefire-reports of their modules"
}
