// Converts a job, like uncore.job and uncore.engine.native, to its document, which is part of the
// hash of a result, and to the specification for the engine. `K` has the constants that all jobs
// share (shared() of playground.py).
//
//   job = { machine, program, threads, parameters: [[name, number, text]], seeds, placement, ... }
//     where ... stands for other options of K.options that the page sets, with the names of Job

const word = number => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(number)), true);
  return bytes;
};
const joined = parts => Uint8Array.from(parts.flatMap(part => [...part]));
const symbol = (program, name) => program.symbols.find(([label]) => label === name)[1];

// Returns the job's document, like uncore.Job.document.
function documentOf(K, job) {
  const machine = structuredClone(job.machine.resolved);
  const parts = {
    machine: [machine],
    chance: [machine.chance],
    cores: [machine.core, ...machine.kinds.map(kind => kind.core)],
    resolvers: machine.resolvers,
    memories: machine.memories,
    interrupt: [machine.interrupt],
  };
  for (const [part, name, usual, others] of K.usual_numbers)
    if (parts[part].every(one => canonical(one[name]) === canonical(usual)))
      for (const [leftOut, number] of [[part, name], ...others])
        for (const one of parts[leftOut]) delete one[number];
  delete machine.os;
  const parameters = job.parameters.map(([name, , text]) => [name, text]).sort();
  const program = { name: job.program.name, sha256: job.program.sha256 };
  const { threads, seeds } = job;
  const chosenOptions = Object.fromEntries(
    Object.keys(K.job)
      .filter(name => name in job)
      .map(name => [name, job[name]]),
  );
  const document = { ...K.job, ...chosenOptions, machine, program, threads, parameters };
  if (seeds.length) document.seeds = seeds;
  else delete machine.chance;
  return document;
}

// Returns the specification of the machine for the engine. The derived figures are computed again,
// like in uncore.topology.machine, because numbers may have been edited.
function machineSpec({ resolved, cores }) {
  const costs = new Map(resolved.kinds.flatMap(kind => kind.cores.map(core => [core, kind.core])));
  return {
    ...resolved,
    stop_count: resolved.stops.length,
    each_core: resolved.core_stops.map((_, core) => costs.get(core) || resolved.core),
    hart_cores: cores,
  };
}

// Returns the job's specification for the engine, like uncore.engine.native.job_spec.
function jobSpec(K, job, threads, seed, trace) {
  const { machine, program } = job;
  const resolved = machine.resolved;
  const [text] = program.segments.filter(
    s => s[0] <= program.entry && program.entry < s[0] + s[1].length,
  );
  return {
    ...K.spec,
    protocol: K.protocols[resolved.protocol].packed,
    placement: machine.harts[job.placement].slice(0, threads),
    segments: memoryOf(K, job, threads),
    entry: program.entry,
    text_begin: text[0],
    text_size: text[1].length,
    stacks: symbol(program, 'uc_stacks'),
    seed: seed ?? 0,
    chance: seed === null ? K.spec.chance : resolved.chance,
    ...(trace && { trace: { ...K.spec.trace, on: true, ...trace }, log: true, lines: true }),
  };
}

// Returns the initial memory, like Program.patched: the segments of the ELF file, followed by the
// boot record and the parameters.
function memoryOf(K, job, threads) {
  const { machine, program } = job;
  const { resolved } = machine;
  const boot = {
    harts: threads,
    nodes: resolved.memories.length,
    node_size: Math.max(...resolved.memories.map(memory => memory.size)),
    timebase_hz: K.timebase,
    clock: K.constants.UC_CLOCK_TIME,
    report: 0,
    multicast: resolved.interrupt.multicast ? resolved.interrupt.harts_per_message || threads : 0,
  };
  const record = symbol(program, 'uc_record');
  const node = K.fields.uc_record.indexOf('node') * 8;
  const magic = new TextEncoder().encode(K.magic);
  const image = [
    ...program.segments,
    [program.boot, joined([magic, ...K.fields.uc_boot.slice(1).map(name => word(boot[name]))])],
  ];
  for (const [n, hart] of machine.harts[job.placement].slice(0, threads).entries())
    image.push([record + n * K.constants.UC_BLOCK + node, word(machine.near[machine.cores[hart]])]);
  for (const [name, number] of job.parameters)
    image.push([program.params.find(p => p.name === name).address, word(number)]);
  return image.map(([address, data]) => ({ address, data }));
}
