// gomemcache's main calls, as TAP. Arguments: host, port.
package main

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

var count, failed int

// check is one test: the call returns true and no error.
func check(name string, call func() (bool, error)) {
	count++
	ok, err := call()
	switch {
	case err != nil:
		failed++
		fmt.Printf("not ok %d - %s # %v\n", count, name, err)
	case !ok:
		failed++
		fmt.Printf("not ok %d - %s # false\n", count, name)
	default:
		fmt.Printf("ok %d - %s\n", count, name)
	}
}

func main() {
	client := memcache.New(os.Args[1] + ":" + os.Args[2])
	client.Timeout = 10 * time.Second
	set := func(key, value string) error {
		return client.Set(&memcache.Item{Key: key, Value: []byte(value)})
	}
	is := func(key, value string) (bool, error) {
		item, err := client.Get(key)
		return err == nil && string(item.Value) == value, err
	}
	check("set", func() (bool, error) { return true, set("key", "value") })
	check("get", func() (bool, error) { return is("key", "value") })
	check("miss", func() (bool, error) {
		_, err := client.Get("nothing")
		return err == memcache.ErrCacheMiss, nil
	})
	check("flags", func() (bool, error) {
		if err := client.Set(&memcache.Item{Key: "flagged", Value: []byte("x"), Flags: 4294967295}); err != nil {
			return false, err
		}
		item, err := client.Get("flagged")
		return err == nil && item.Flags == 4294967295, err
	})
	check("add", func() (bool, error) {
		if err := client.Add(&memcache.Item{Key: "added", Value: []byte("1")}); err != nil {
			return false, err
		}
		return client.Add(&memcache.Item{Key: "added", Value: []byte("2")}) == memcache.ErrNotStored, nil
	})
	check("cas", func() (bool, error) {
		first, err := client.Get("key")
		if err != nil {
			return false, err
		}
		second, err := client.Get("key")
		if err != nil {
			return false, err
		}
		first.Value = []byte("new")
		if err := client.CompareAndSwap(first); err != nil {
			return false, err
		}
		return client.CompareAndSwap(second) == memcache.ErrCASConflict, nil
	})
	check("increment", func() (bool, error) {
		if err := set("n", "10"); err != nil {
			return false, err
		}
		n, err := client.Increment("n", 5)
		return n == 15, err
	})
	check("decrement", func() (bool, error) {
		n, err := client.Decrement("n", 20)
		return n == 0, err
	})
	check("get of many", func() (bool, error) {
		if err := set("a", "1"); err != nil {
			return false, err
		}
		items, err := client.GetMulti([]string{"a", "nothing", "n"})
		return len(items) == 2, err
	})
	check("delete", func() (bool, error) {
		if err := client.Delete("key"); err != nil {
			return false, err
		}
		return client.Delete("key") == memcache.ErrCacheMiss, nil
	})
	check("900 KB", func() (bool, error) {
		large := bytes.Repeat([]byte("x"), 900000)
		if err := client.Set(&memcache.Item{Key: "large", Value: large}); err != nil {
			return false, err
		}
		item, err := client.Get("large")
		return err == nil && bytes.Equal(item.Value, large), err
	})
	check("2 MB is refused", func() (bool, error) {
		return client.Set(&memcache.Item{Key: "huge", Value: make([]byte, 2000000)}) != nil, nil
	})
	check("goes on after that", func() (bool, error) { return is("a", "1") })
	check("expiry", func() (bool, error) {
		if err := client.Set(&memcache.Item{Key: "soon", Value: []byte("x"), Expiration: 1}); err != nil {
			return false, err
		}
		end := time.Now().Add(5 * time.Second)
		for time.Now().Before(end) {
			if _, err := client.Get("soon"); err == memcache.ErrCacheMiss {
				return true, nil
			}
			time.Sleep(50 * time.Millisecond)
		}
		return false, nil
	})
	fmt.Printf("1..%d\n", count)
	if failed > 0 {
		os.Exit(1)
	}
}
