// The worker: answers each message of the page, { wasm, shared } or { job, watch, command }, with
// the points of a run and their hash, or with a trace.
let loading;
let K;
self.onmessage = async ({ data }) => {
  try {
    if (data.wasm) {
      K = data.shared;
      loading = Engine.of(data.wasm);
      return;
    }
    const engine = await loading; // a job may come before it is there
    if (data.watch)
      return postMessage({ trace: traceOf(K, data.job, ...data.watch, engine, data.command) });
    const points = [];
    for (const [threads, seed] of each(data.job)) {
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
