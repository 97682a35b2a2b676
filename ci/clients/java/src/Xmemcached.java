import java.time.Duration;
import java.util.List;
import net.rubyeye.xmemcached.GetsResponse;
import net.rubyeye.xmemcached.MemcachedClient;
import net.rubyeye.xmemcached.XMemcachedClientBuilder;
import net.rubyeye.xmemcached.command.BinaryCommandFactory;
import net.rubyeye.xmemcached.utils.AddrUtil;

/** xmemcached's main calls, as TAP. Arguments: host, port, text or binary. */
public final class Xmemcached {
    private Xmemcached() {}

    public static void main(String[] args) throws Exception {
        XMemcachedClientBuilder builder = new XMemcachedClientBuilder(AddrUtil.getAddresses(args[0] + ":" + args[1]));
        if (args[2].equals("binary")) {
            builder.setCommandFactory(new BinaryCommandFactory());
        }
        MemcachedClient client = builder.build();
        client.setOpTimeout(10_000);
        Tap tap = new Tap();
        tap.check("version", () -> Character.isDigit(client.getVersions().values().iterator().next().charAt(0)));
        tap.check("flush", () -> {
            client.flushAll();
            return true;
        });
        tap.check("set", () -> client.set("key", 0, "value"));
        tap.check("get", () -> "value".equals(client.get("key")));
        tap.check("miss", () -> client.get("nothing") == null);
        tap.check("add", () -> client.add("added", 0, "1") && !client.add("added", 0, "2"));
        tap.check("replace", () -> client.replace("key", 0, "b") && !client.replace("nothing", 0, "b"));
        tap.check("append", () -> client.append("key", "c") && "bc".equals(client.get("key")));
        tap.check("prepend", () -> client.prepend("key", "a") && "abc".equals(client.get("key")));
        tap.check("cas", () -> {
            GetsResponse<String> value = client.gets("key");
            return client.cas("key", 0, "new", value.getCas()) && !client.cas("key", 0, "old", value.getCas());
        });
        tap.check("incr", () -> client.incr("n", 5, 10) == 10 && client.incr("n", 5, 10) == 15);
        tap.check("decr", () -> client.decr("n", 20) == 0);
        tap.check("touch", () -> client.touch("n", 100) && !client.touch("nothing", 1));
        tap.check("delete", () -> client.delete("key") && !client.delete("key"));
        tap.check("get of many", () -> client.set("a", 0, "1") && client.set("b", 0, "2")
                && client.get(List.of("a", "nothing", "b")).size() == 2);
        tap.check("set without an answer", () -> {
            client.setWithNoReply("quiet", 0, "x");
            return "x".equals(client.get("quiet"));
        });
        tap.check("900 KB", () -> client.set("large", 0, new byte[900_000])
                && ((byte[]) client.get("large")).length == 900_000);
        tap.check("expiry", () -> client.set("soon", 1, "x")
                && Tap.within(Duration.ofSeconds(5), () -> client.get("soon") == null));
        tap.check("stats", () -> Integer.parseInt(client.getStats().values().iterator().next().get("curr_items")) > 0);
        tap.done();
    }
}
