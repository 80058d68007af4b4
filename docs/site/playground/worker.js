// The script of the worker. The page first sends { wasm, shared }, then { job, watch, command } for
// each job. The worker replies with the points of the job and its hash; with `watch`, with a trace.
let loading;
let K;
self.onmessage = async ({ data }) => {
  try {
    if (data.wasm) {
      K = data.shared;
      loading = Engine.from(data.wasm);
      return;
    }
    const engine = await loading; // a job may arrive before the engine is ready
    if (data.watch)
      return postMessage({ trace: traceOf(K, data.job, ...data.watch, engine, data.command) });
    const points = [];
    for (const [threads, seed] of pointsOf(data.job)) {
      points.push(
        runPoint(K, data.job, threads, seed, engine, done => postMessage({ threads, done })),
      );
      postMessage({ point: points[points.length - 1] });
    }
    postMessage({
      hash: globalThis.crypto?.subtle
        ? await hashOf(K, data.job, points)
        : 'needs https, localhost or a file',
    });
  } catch (error) {
    postMessage({
      wrong:
        error instanceof WebAssembly.RuntimeError
          ? 'the engine has stopped: it has no room for this, or a number is out of its range'
          : error.message,
    });
  }
};
