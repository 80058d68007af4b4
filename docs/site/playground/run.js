// Runs of a job: its points in order, each one run of the engine.
//
//   for (const [threads, seed] of each(job)) runPoint(K, job, threads, seed, engine)
function* each({ threads, seeds }) {
  for (const many of threads) for (const seed of seeds.length ? seeds : [null]) yield [many, seed];
}

function runPoint(K, job, threads, seed, engine, heard = () => {}) {
  engine.start(machineSpec(job.machine), jobSpec(K, job, threads, seed));
  while (engine.step()) heard(engine.operations());
  return pointOf(K, job, threads, seed, engine);
}
