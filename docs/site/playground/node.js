// Runs the playground's scripts in Node.js without a page, for tests and timing.
//
//   node node.js ENGINE.wasm QUESTION.json
//       input:  {"shared", "machine", "workload", "job", "watch", "window", "text"}
//       output: {"points", "hash", "trace", "seconds"}

const fs = require('node:fs');
const vm = require('node:vm');
const path = require('node:path');
const SCRIPTS = [
  'engine.js',
  'job.js',
  'names.js',
  'outcome.js',
  'trace.js',
  'run.js',
  'program.js',
  'digest.js',
  'written.js',
  '../../../sim/uncore/drawing/packed.js',
  '../../../sim/uncore/drawing/sorted.js',
];
const text = SCRIPTS.map(name => fs.readFileSync(path.join(__dirname, name), 'utf8')).join('\n');
const NAMES =
  'Engine, unpackedProgram, writtenProgram, pointOf, hashOf, traceOf, runPoint, pointsOf';
const run = vm.runInThisContext(`(() => { ${text}\nreturn { ${NAMES} }; })()`);

function programOf(workload, text) {
  const program = run.unpackedProgram(workload);
  return text === undefined ? program : run.writtenProgram(program, text);
}
async function main([wasm, file]) {
  const {
    shared: K,
    machine,
    workload,
    job: options,
    watch,
    window,
    text,
  } = JSON.parse(fs.readFileSync(file, 'utf8'));
  const engine = await run.Engine.from(fs.readFileSync(wasm));
  const job = {
    ...options,
    ...(window && { window }),
    machine,
    program: await programOf(workload, text),
  };
  const begun = process.cpuUsage();
  const points = [];
  for (const [threads, seed] of run.pointsOf(job))
    points.push(run.runPoint(K, job, threads, seed, engine));
  const { user, system } = process.cpuUsage(begun);
  const seconds = (user + system) / 1e6;
  const hash = await run.hashOf(K, job, points);
  const trace = watch ? run.traceOf(K, job, watch[0], watch[1], engine, '') : null;
  process.stdout.write(JSON.stringify({ points, hash, trace, seconds }));
}
main(process.argv.slice(2)).catch(error => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
