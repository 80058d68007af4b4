// Runs: a job's points in their order, each one run of the engine.
//
//   for (const [threads, seed] of each(asked)) runPoint(K, asked, threads, seed, engine)
function* each({ threads, seeds }) {
  for (const many of threads) for (const seed of seeds.length ? seeds : [null]) yield [many, seed];
}

function runPoint(K, asked, threads, seed, engine, heard = () => {}) {
  engine.start(machineSpec(asked.machine), jobSpec(K, asked, threads, seed));
  while (engine.step()) heard(engine.operations());
  return pointOf(K, asked, threads, seed, engine);
}

const bytesOf = letters => Uint8Array.from(atob(letters), c => c.charCodeAt(0));
function unpackedProgram(workload) {
  return {
    ...workload,
    segments: workload.segments.map(([address, letters]) => [address, bytesOf(letters)]),
  };
}
