import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import net.spy.memcached.MemcachedClient;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** memcached for YCSB, by spymemcached as YCSB's own binding is: a record is one value, its fields in lines. */
public final class YcsbDatabase extends DB {
    static final String SERVER = "server";

    private MemcachedClient client;

    @Override
    public void init() throws DBException {
        String[] server = getProperties().getProperty(SERVER).split(":");
        try {
            client = new MemcachedClient(new InetSocketAddress(server[0], Integer.parseInt(server[1])));
        } catch (Exception e) {
            throw new DBException(e);
        }
    }

    @Override
    public void cleanup() {
        client.shutdown();
    }

    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        Object value = client.get(table + ":" + key);
        if (value == null) {
            return Status.NOT_FOUND;
        }
        for (String line : value.toString().split("\n")) {
            int end = line.indexOf('=');
            String field = line.substring(0, end);
            if (fields == null || fields.contains(field)) {
                result.put(field, new StringByteIterator(decoded(line.substring(end + 1))));
            }
        }
        return Status.OK;
    }

    @Override
    public Status scan(String table, String start, int count, Set<String> fields, Vector<HashMap<String, ByteIterator>> result) {
        return Status.NOT_IMPLEMENTED;
    }

    /** A record has one field here, so a change of some fields is a change of all. */
    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return insert(table, key, values);
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        StringBuilder record = new StringBuilder();
        values.forEach((field, value) ->
                record.append(field).append('=').append(encoded(value.toString())).append('\n'));
        try {
            return client.set(table + ":" + key, 0, record.toString()).get() ? Status.OK : Status.ERROR;
        } catch (Exception e) {
            return Status.ERROR;
        }
    }

    @Override
    public Status delete(String table, String key) {
        try {
            return client.delete(table + ":" + key).get() ? Status.OK : Status.NOT_FOUND;
        } catch (Exception e) {
            return Status.ERROR;
        }
    }

    private static String encoded(String value) {
        return java.util.Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8));
    }

    private static String decoded(String value) {
        return new String(java.util.Base64.getDecoder().decode(value), StandardCharsets.UTF_8);
    }
}
