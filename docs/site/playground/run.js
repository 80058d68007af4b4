// Runs the points of a job in order. Each point is one run of the engine.
//
//   for (const [threads, seed] of pointsOf(job)) runPoint(K, job, threads, seed, engine)

function* pointsOf({ threads, seeds }) {
  for (const count of threads)
    for (const seed of seeds.length ? seeds : [null]) yield [count, seed];
}

function runPoint(K, job, threads, seed, engine, onProgress = () => {}) {
  engine.start(machineSpec(job.machine), jobSpec(K, job, threads, seed));
  while (engine.step()) onProgress(engine.operations());
  return pointOf(K, job, threads, seed, engine);
}
