# dalli's main calls, as TAP. Arguments: host, port, binary or meta.
require 'dalli'

$count = 0
$failed = 0

# One test: the block returns something true.
def check(name)
  $count += 1
  reason = yield ? nil : 'false'
rescue StandardError => e
  reason = "#{e.class}: #{e.message}"
ensure
  $failed += 1 if reason
  puts reason ? "not ok #{$count} - #{name} # #{reason}" : "ok #{$count} - #{name}"
end

# True as soon as the block is, if that is in time.
def within(seconds)
  finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  until yield
    return false if Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish

    sleep 0.05
  end
  true
end

options = { socket_timeout: 10, value_max_bytes: 4 << 20 }
options[:protocol] = ARGV[2].to_sym if ARGV[2] != 'binary'
client = Dalli::Client.new("#{ARGV[0]}:#{ARGV[1]}", options)

check('version') { client.version.values.first =~ /\A\d/ }
check('flush') { client.flush.all? }
check('set') { client.set('key', 'value') }
check('get') { client.get('key') == 'value' }
check('miss') { client.get('nothing').nil? }
check('objects') { client.set('object', { a: [1, 2.5, nil] }) && client.get('object') == { a: [1, 2.5, nil] } }
check('add') { client.add('added', 1) && !client.add('added', 2) }
# replace answers 0 where there was nothing, which is true in Ruby
check('replace') { client.replace('key', 'b') && [0, nil, false].include?(client.replace('nothing', 'b')) && client.get('nothing').nil? }
check('append') { client.set('raw', 'b', 0, raw: true) && client.append('raw', 'c') && client.get('raw', raw: true) == 'bc' }
check('prepend') { client.prepend('raw', 'a') && client.get('raw', raw: true) == 'abc' }
check('cas') { client.cas('key') { |old| "#{old}!" } && client.get('key') == 'b!' }
check('incr') { client.incr('n', 5, 0, 10) == 10 && client.incr('n', 5) == 15 }
check('decr') { client.decr('n', 20).zero? }
check('delete') { client.delete('key') && !client.delete('key') }
check('touch') { client.touch('n', 100) && !client.touch('nothing', 1) }
check('gat') { client.set('gat', 'x') && client.gat('gat', 100) == 'x' }
check('get of many') { client.set('a', 1) && client.set('b', 2) && client.get_multi('a', 'nothing', 'b') == { 'a' => 1, 'b' => 2 } }
check('quiet') { client.multi { 50.times { |i| client.set("q#{i}", i) } } && client.get('q49') == 49 }
check('fetch') { client.fetch('fetched') { 7 } == 7 && client.get('fetched') == 7 }
check('900 KB') { client.set('large', 'x' * 900_000, 0, raw: true) && client.get('large', raw: true).size == 900_000 }
check('2 MB is refused') { !client.set('huge', Random.new(1).bytes(2_000_000), 0, raw: true) rescue true } # x's are compressed
check('goes on after that') { client.get('a') == 1 }
check('expiry') { client.set('soon', 'x', 1) && within(5) { client.get('soon').nil? } }
check('stats') { client.stats.values.first['curr_items'].to_i.positive? }
puts "1..#{$count}"
exit($failed.positive? ? 1 : 0)
