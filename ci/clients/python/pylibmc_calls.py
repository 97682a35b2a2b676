# pylibmc's main calls (libmemcached), as TAP. Arguments: host, port, text or binary.
import sys

import pylibmc
from tap import Tap

tap = Tap()
client = pylibmc.Client(
    [f"{sys.argv[1]}:{sys.argv[2]}"],
    binary=sys.argv[3] == "binary",
    behaviors={"cas": True, "tcp_nodelay": True, "connect_timeout": 10_000},
)

tap.check("flush", lambda: client.flush_all())
tap.check("set", lambda: client.set("key", "value"))
tap.check("get", lambda: client.get("key") == "value")
tap.check("miss", lambda: client.get("nothing") is None)
tap.check("objects", lambda: client.set("object", {"a": [1, 2.5, None]}) and client.get("object") == {"a": [1, 2.5, None]})
tap.check("add", lambda: client.add("added", "1") and not client.add("added", "2"))
tap.check("replace", lambda: client.replace("key", "b") and tap.fails(lambda: client.replace("nothing", "b")))
tap.check("append", lambda: client.append("key", "c") and client.get("key") == "bc")
tap.check("prepend", lambda: client.prepend("key", "a") and client.get("key") == "abc")


def cas():
    value, token = client.gets("key")
    return value == "abc" and client.cas("key", "new", token) and not client.cas("key", "old", token)


tap.check("cas", cas)
tap.check("incr", lambda: client.set("n", 10) and client.incr("n", 5) == 15)
tap.check("decr", lambda: client.decr("n", 5) == 10)
tap.check("incr of nothing", lambda: tap.fails(lambda: client.incr("nothing", 1)))
tap.check("delete", lambda: client.delete("key") and not client.delete("key"))
tap.check("touch", lambda: client.touch("n", 100) and not client.touch("nothing", 1))
tap.check("get multi", lambda: client.set_multi({"a": "1", "b": "2"}) == []
          and client.get_multi(["a", "nothing", "b"]) == {"a": "1", "b": "2"})
tap.check("delete multi", lambda: client.delete_multi(["a", "b"]) and client.get("a") is None)
tap.check("empty value", lambda: client.set("empty", "") and client.get("empty") == "")
tap.check("900 KB", lambda: client.set("large", b"x" * 900_000) and len(client.get("large")) == 900_000)
tap.check("2 MB is refused", lambda: tap.fails(lambda: client.set("huge", b"x" * 2_000_000)))
tap.check("goes on after that", lambda: client.set("a", "1") and client.get("a") == "1")
tap.check("key of 250 bytes", lambda: client.set("k" * 250, "x") and client.get("k" * 250) == "x")
tap.check("expiry", lambda: client.set("soon", "x", time=1) and tap.within(5, lambda: client.get("soon") is None))
tap.check("stats", lambda: int(client.get_stats()[0][1]["curr_items"]) > 0)
tap.done()
