import com.schooner.MemCached.MemcachedItem;
import com.whalin.MemCached.MemCachedClient;
import com.whalin.MemCached.SockIOPool;
import java.time.Duration;
import java.util.Date;
import java.util.Map;

/** The main calls of Whalin's Memcached-Java-Client, as TAP. Arguments: host, port, text or binary. */
public final class Whalin {
    private Whalin() {}

    public static void main(String[] args) {
        SockIOPool pool = SockIOPool.getInstance();
        pool.setServers(new String[] {args[0] + ":" + args[1]});
        pool.setSocketTO(10_000);
        pool.initialize();
        MemCachedClient client = new MemCachedClient(null, true, args[2].equals("binary"));
        Tap tap = new Tap();
        tap.check("flush", client::flushAll);
        tap.check("set", () -> client.set("key", "value"));
        tap.check("get", () -> "value".equals(client.get("key")));
        tap.check("miss", () -> client.get("nothing") == null);
        tap.check("add", () -> client.add("added", "1") && !client.add("added", "2"));
        tap.check("replace", () -> client.replace("key", "b") && !client.replace("nothing", "b"));
        tap.check("cas", () -> {
            MemcachedItem value = client.gets("key");
            return client.cas("key", "new", value.getCasUnique()) && !client.cas("key", "old", value.getCasUnique());
        });
        tap.check("incr", () -> client.addOrIncr("n", 10) == 10 && client.incr("n", 5) == 15);
        tap.check("decr", () -> client.decr("n", 20) == 0);
        tap.check("delete", () -> client.delete("key") && client.get("key") == null);
        tap.check("get of many", () -> {
            client.set("a", "1");
            client.set("b", "2");
            return client.getMulti(new String[] {"a", "nothing", "b"}).values().stream().filter(v -> v != null).count() == 2;
        });
        tap.check("900 KB", () -> client.set("large", new byte[900_000]) && ((byte[]) client.get("large")).length == 900_000);
        tap.check("expiry", () -> client.set("soon", "x", new Date(System.currentTimeMillis() + 1000))
                && Tap.within(Duration.ofSeconds(5), () -> client.get("soon") == null));
        tap.check("stats", () -> {
            Map<String, Map<String, String>> stats = client.stats();
            return Integer.parseInt(stats.values().iterator().next().get("curr_items").trim()) > 0;
        });
        tap.done();
    }
}
