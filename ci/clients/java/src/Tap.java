import java.time.Duration;
import java.util.concurrent.Callable;

/** The few lines of TAP that the Java clients need. */
final class Tap {
    private int count;
    private int failed;

    /** One test: the call returns true. */
    void check(String name, Callable<Boolean> call) {
        count++;
        String reason;
        try {
            reason = call.call() ? "" : "false";
        } catch (Exception e) {
            reason = e.toString();
        }
        failed += reason.isEmpty() ? 0 : 1;
        System.out.println(
                reason.isEmpty() ? "ok " + count + " - " + name : "not ok " + count + " - " + name + " # " + reason);
    }

    /** True if the call throws or returns false. */
    static boolean fails(Callable<Boolean> call) {
        try {
            return !call.call();
        } catch (Exception e) {
            return true;
        }
    }

    /** True as soon as the call is, if that is in time. The call waits for an answer of the server each time. */
    static boolean within(Duration limit, Callable<Boolean> call) throws Exception {
        long endNs = System.nanoTime() + limit.toNanos();
        while (System.nanoTime() - endNs < 0) {
            if (call.call()) {
                return true;
            }
        }
        return false;
    }

    void done() {
        System.out.println("1.." + count);
        System.out.flush();
        System.exit(failed > 0 ? 1 : 0);
    }
}
