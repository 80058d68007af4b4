// Runs all points of a job, in order. Each point is one run of the engine.
//
//   for (const [threads, seed] of pointsOf(job)) runPoint(K, job, threads, seed, engine)

function* pointsOf({ threads, seeds }) {
  for (const many of threads) for (const seed of seeds.length ? seeds : [null]) yield [many, seed];
}

function runPoint(K, job, threads, seed, engine, onProgress = () => {}) {
  engine.start(machineSpec(job.machine), jobSpec(K, job, threads, seed));
  while (engine.step()) onProgress(engine.operations());
  return pointOf(K, job, threads, seed, engine);
}
