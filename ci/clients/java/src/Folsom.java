import com.spotify.folsom.GetResult;
import com.spotify.folsom.MemcacheClient;
import com.spotify.folsom.MemcacheClientBuilder;
import com.spotify.folsom.MemcacheStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** folsom's main calls, as TAP. Arguments: host, port, text or binary. */
public final class Folsom {
    private Folsom() {}

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private static boolean ok(CompletionStage<MemcacheStatus> stage) throws Exception {
        return get(stage) == MemcacheStatus.OK;
    }

    public static void main(String[] args) throws Exception {
        MemcacheClientBuilder<String> builder =
                MemcacheClientBuilder.newStringClient().withAddress(args[0], Integer.parseInt(args[1]));
        MemcacheClient<String> client =
                args[2].equals("binary") ? builder.connectBinary() : builder.connectAscii();
        client.awaitConnected(10, TimeUnit.SECONDS);
        Tap tap = new Tap();
        tap.check("flush", () -> ok(client.flushAll(0)));
        tap.check("set", () -> ok(client.set("key", "value", 0)));
        tap.check("get", () -> "value".equals(get(client.get("key"))));
        tap.check("miss", () -> get(client.get("nothing")) == null);
        tap.check("add", () -> ok(client.add("added", "1", 0)) && !ok(client.add("added", "2", 0)));
        tap.check("replace", () -> ok(client.replace("key", "b", 0)) && !ok(client.replace("nothing", "b", 0)));
        tap.check("append", () -> ok(client.append("key", "c")) && "bc".equals(get(client.get("key"))));
        tap.check("prepend", () -> ok(client.prepend("key", "a")) && "abc".equals(get(client.get("key"))));
        tap.check("cas", () -> {
            GetResult<String> value = get(client.casGet("key"));
            return ok(client.set("key", "new", 0, value.getCas()))
                    && get(client.set("key", "old", 0, value.getCas())) == MemcacheStatus.KEY_EXISTS;
        });
        tap.check("touch", () -> ok(client.touch("key", 100)) && !ok(client.touch("nothing", 1)));
        tap.check("delete", () -> ok(client.delete("key")) && get(client.delete("key")) == MemcacheStatus.KEY_NOT_FOUND);
        tap.check("get of many", () -> ok(client.set("a", "1", 0)) && ok(client.set("b", "2", 0))
                && get(client.get(List.of("a", "nothing", "b"))).stream().filter(v -> v != null).count() == 2);
        tap.check("900 KB", () -> ok(client.set("large", "x".repeat(900_000), 0))
                && get(client.get("large")).length() == 900_000);
        tap.check("expiry", () -> ok(client.set("soon", "x", 1))
                && Tap.within(Duration.ofSeconds(5), () -> get(client.get("soon")) == null));
        tap.done();
    }
}
