# python-memcached's main calls, as TAP. Arguments: host, port.
import sys

import memcache
from tap import Tap

tap = Tap()
client = memcache.Client([f"{sys.argv[1]}:{sys.argv[2]}"], socket_timeout=10, cache_cas=True)

tap.check("flush", lambda: client.flush_all() is None)
tap.check("set", lambda: client.set("key", "value"))
tap.check("get", lambda: client.get("key") == "value")
tap.check("miss", lambda: client.get("nothing") is None)
tap.check("objects", lambda: client.set("object", {"a": [1, 2.5]}) and client.get("object") == {"a": [1, 2.5]})
tap.check("add", lambda: client.add("added", "1") and not client.add("added", "2"))
tap.check("replace", lambda: client.replace("key", "b") and not client.replace("nothing", "b"))
tap.check("append", lambda: client.append("key", "c") and client.get("key") == "bc")
tap.check("prepend", lambda: client.prepend("key", "a") and client.get("key") == "abc")


def cas():
    value = client.gets("key")
    other = memcache.Client([f"{sys.argv[1]}:{sys.argv[2]}"])
    return value == "abc" and client.cas("key", "new") and other.set("key", "x") and not client.cas("key", "old")


tap.check("cas", cas)
tap.check("incr", lambda: client.set("n", "10") and client.incr("n", 5) == 15)
tap.check("decr", lambda: client.decr("n", 20) == 0)
tap.check("delete", lambda: client.delete("key") and client.get("key") is None)
tap.check("touch", lambda: client.touch("n", 100) and not client.touch("nothing", 1))
tap.check("get multi", lambda: client.set_multi({"a": "1", "b": "2"}) == []
          and client.get_multi(["a", "nothing", "b"]) == {"a": "1", "b": "2"})
tap.check("key of 250 bytes", lambda: client.set("k" * 250, "x") and client.get("k" * 250) == "x")
tap.check("900 KB", lambda: client.set("large", b"x" * 900_000) and len(client.get("large")) == 900_000)
tap.check("expiry", lambda: client.set("soon", "x", time=1) and tap.within(5, lambda: client.get("soon") is None))
tap.check("stats", lambda: int(client.get_stats()[0][1]["curr_items"]) > 0)
tap.done()
