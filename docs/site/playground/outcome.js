// Converts the counts of a run to its outcome, like uncore.engine.outcome, and hashes results.
//
//   pointOf(K, job, threads, seed, engine)      returns the fields of a result.Point
//   await hashOf(K, job, points)                returns the result_hash, as in uncore.result

const wordAt = (bytes, n) => number64(bytes.slice(n * 8, n * 8 + 8));

function pointOf(K, job, threads, seed, engine) {
  const { program } = job;
  const machine = job.machine.resolved;
  const counts = engine.outcome();
  const memory = (address, size) => engine.read(address, size);
  const read = cached(memory);
  if (counts.end !== 'exited') throw new Error(`${program.name}: ${counts.end}: ${counts.reason}`);
  const { failures, ...work } = workOf(recordsOf(K, program, memory, threads));
  if (counts.exit_code && !failures.length)
    throw new Error(`${program.name} ended with status ${counts.exit_code}: ${counts.console}`);
  const lines = counts.lines.slice(0, K.hottest_lines);
  const names = namesOf(K, program, read, threads);
  const latency = percentiles(K, counts.latencies);
  const caches = cachesOf(machine.memories, counts.memory_caches);
  return {
    threads,
    ...(seed !== null && { seed }),
    ...work,
    steady: counts.steady[0] ?? null,
    latency,
    transfers: transfersOf(job.machine.origins, counts),
    ...(caches.length && { memory_caches: caches }),
    lines,
    names: lines.map(([address]) => [address, names.at(address)]),
    invalidations: counts.invalidations,
    failed_scs: counts.failed_scs,
    links: busy(job.machine.channels, counts.channel_busy, counts.now),
    resolvers: busy(
      machine.resolvers.map(r => r.name),
      counts.resolver_busy,
      counts.now,
    ),
    instructions: counts.instructions,
    transactions: counts.transactions,
    events: counts.events,
    tables: tablesOf(K, program, memory),
    failures,
    absent: {
      ...(!latency && { latency: K.absent.latency }),
      ...(!counts.steady.length && { steady: K.absent.steady }),
    },
  };
}

// Combines the records of all threads (uc_record).
function workOf(records) {
  const begin = Math.min(...records.map(r => r.begin));
  const end = Math.max(...records.map(r => r.end));
  return {
    ops: records.reduce((sum, r) => sum + r.ops, 0),
    elapsed_ps: (end - begin) * 1000,
    thread_ops: records.map(r => r.ops),
    thread_ps: records.map(r => [(r.begin - begin) * 1000, (r.end - begin) * 1000]),
    failures: records.filter(r => r.failures).map(r => r.why),
  };
}

// Returns a function that reads each value only once, because memory does not change after a run.
function cached(read) {
  const values = new Map();
  return (address, size) => {
    const key = `${address} ${size}`;
    if (!values.has(key)) values.set(key, read(address, size));
    return values.get(key);
  };
}

function recordsOf(K, program, read, harts) {
  const base = symbol(program, 'uc_record');
  const names = K.fields.uc_record;
  return Array.from({ length: harts }, (_, hart) => {
    const bytes = read(base + hart * K.constants.UC_BLOCK, names.length * 8);
    const field = name => wordAt(bytes, names.indexOf(name));
    return {
      ops: field(field('end_ns') ? 'ended_at' : 'ops') - field('begun_at'),
      begin: field('begin_ns'),
      end: field('end_ns'),
      failures: field('failures'),
      why: field('why') ? textAt(read, field('why')) : '',
    };
  });
}
function textAt(read, address) {
  const bytes = read(address, 4096);
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(bytes.subarray(0, end < 0 ? bytes.length : end));
}
function tablesOf(K, program, read) {
  const tables = {};
  for (const table of program.tables) {
    const { rows, cols, cells } = tableWords(K, read, table.address);
    if (!cells) continue;
    const data = read(cells, rows * cols * 8);
    tables[table.name] = Array.from({ length: rows }, (_, r) =>
      Array.from({ length: cols }, (_, c) => wordAt(data, r * cols + c)),
    );
  }
  return tables;
}

function percentiles(K, buckets) {
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (!total) return null;
  const latencyAt = share => {
    let remaining = Math.ceil((total * share) / 100);
    for (const [latency, count] of buckets) {
      remaining -= count;
      if (remaining <= 0) return latency;
    }
    return buckets[buckets.length - 1][0];
  };
  const shares = K.percentiles.map(share => [`p${share}`, latencyAt(share)]);
  return { ...Object.fromEntries(shares), max: buckets[buckets.length - 1][0] };
}

function transfersOf([between, stored], counts) {
  const transfers = {};
  const add = (name, count) => {
    if (count) transfers[name] = (transfers[name] || 0) + count;
  };
  for (const [i, count] of counts.between.entries())
    add(between[between.length - counts.between.length + i], count);
  for (const [i, count] of counts.stored.entries()) add(stored[i], count);
  add('memory', counts.memory);
  return transfers;
}

// Returns [name, hits, misses] of each memory node that has a cache.
function cachesOf(memories, uses) {
  const all = memories.map((memory, n) => [memory, `node${n}`, ...uses[n]]);
  return all.filter(([memory]) => memory.cache_sets).map(([, ...counted]) => counted);
}

function busy(names, used, elapsed) {
  const share = ps => Number((BigInt(ps) * 1000000n) / BigInt(Math.max(elapsed, 1)));
  const order = (a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1);
  return names
    .map((name, i) => [name, share(used[i])])
    .filter(([, part]) => part)
    .sort(order);
}

// Returns the canonical JSON text of a value: with sorted keys and without spaces.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.keys(value)
    .sort()
    .map(key => `${JSON.stringify(key)}:${canonical(value[key])}`)
    .join(',')}}`;
}
async function hashOf(K, job, points) {
  return digestOf(canonical({ job: documentOf(K, job), outcome: { points, partial: false } }));
}
