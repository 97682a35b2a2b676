import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import net.spy.memcached.BinaryConnectionFactory;
import net.spy.memcached.CASResponse;
import net.spy.memcached.CASValue;
import net.spy.memcached.DefaultConnectionFactory;
import net.spy.memcached.MemcachedClient;

/** spymemcached's main calls, as TAP. Arguments: host, port, text or binary. */
public final class Spymemcached {
    private Spymemcached() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SLF4JLogger");
        MemcachedClient client = new MemcachedClient(
                args[2].equals("binary") ? new BinaryConnectionFactory() : new DefaultConnectionFactory(),
                List.of(new InetSocketAddress(args[0], Integer.parseInt(args[1]))));
        Tap tap = new Tap();
        tap.check("version", () -> Character.isDigit(client.getVersions().values().iterator().next().charAt(0)));
        tap.check("flush", () -> client.flush().get());
        tap.check("set", () -> client.set("key", 0, "value").get());
        tap.check("get", () -> "value".equals(client.get("key")));
        tap.check("miss", () -> client.get("nothing") == null);
        tap.check("objects", () -> client.set("object", 0, List.of(1, "two")).get()
                && List.of(1, "two").equals(client.get("object")));
        tap.check("add", () -> client.add("added", 0, "1").get() && !client.add("added", 0, "2").get());
        tap.check("replace", () -> client.replace("key", 0, "b").get() && !client.replace("nothing", 0, "b").get());
        tap.check("append", () -> client.append("key", "c").get() && "bc".equals(client.get("key")));
        tap.check("prepend", () -> client.prepend("key", "a").get() && "abc".equals(client.get("key")));
        tap.check("cas", () -> {
            CASValue<Object> value = client.gets("key");
            return client.cas("key", value.getCas(), "new") == CASResponse.OK
                    && client.cas("key", value.getCas(), "old") == CASResponse.EXISTS;
        });
        tap.check("incr", () -> client.set("n", 0, "10").get() && client.incr("n", 5) == 15);
        tap.check("decr", () -> client.decr("n", 20) == 0);
        tap.check("incr with a default", () -> client.incr("counter", 1, 7) == 7 && client.incr("counter", 1, 7) == 8);
        tap.check("touch", () -> client.touch("n", 100).get());
        tap.check("getAndTouch", () -> args[2].equals("text") || "0".equals(String.valueOf(client.getAndTouch("n", 100).getValue()).trim()));
        tap.check("delete", () -> client.delete("key").get() && !client.delete("key").get());
        tap.check("getBulk", () -> client.set("a", 0, "1").get() && client.set("b", 0, "2").get()
                && client.getBulk(Set.of("a", "nothing", "b")).size() == 2);
        tap.check("900 KB", () -> client.set("large", 0, new byte[900_000]).get()
                && ((byte[]) client.get("large")).length == 900_000);
        tap.check("goes on after a large one", () -> "1".equals(client.get("a")));
        tap.check("expiry", () -> client.set("soon", 1, "x").get()
                && Tap.within(Duration.ofSeconds(5), () -> client.get("soon") == null));
        tap.check("stats", () -> Integer.parseInt(client.getStats().values().iterator().next().get("curr_items")) > 0);
        tap.check("stats settings", () -> client.getStats("settings").values().iterator().next().size() > 5);
        tap.done();
    }
}
