// The playground's scripts without a page, for tests and timing (Node.js):
//
//   node node.js ENGINE.wasm ASKED.json       {"shared", "machine", "workload", "asked", "watch"} in,
//                                             {"points", "hash", "trace", "seconds"} out
const fs = require('node:fs');
const vm = require('node:vm');
const path = require('node:path');
const SCRIPTS = ['engine.js', 'job.js', 'names.js', 'point.js', 'trace.js', 'run.js'];
const text = SCRIPTS.map(name => fs.readFileSync(path.join(__dirname, name), 'utf8')).join('\n');
const run = vm.runInThisContext(
  `(() => { ${text}\nreturn { Engine, unpackedProgram, pointOf, hashOf, traceOf, runPoint, each }; })()`,
);

async function main([wasm, file]) {
  const { shared: K, machine, workload, asked, watch } = JSON.parse(fs.readFileSync(file, 'utf8'));
  const engine = await run.Engine.of(fs.readFileSync(wasm));
  const job = { ...asked, machine, program: run.unpackedProgram(workload) };
  const begun = process.cpuUsage();
  const points = [];
  for (const [threads, seed] of run.each(job))
    points.push(run.runPoint(K, job, threads, seed, engine));
  const { user, system } = process.cpuUsage(begun);
  const seconds = (user + system) / 1e6;
  const hash = await run.hashOf(K, job, points);
  const trace = watch ? run.traceOf(K, job, watch[0], watch[1], engine, '') : null;
  process.stdout.write(JSON.stringify({ points, hash, trace, seconds }));
}
main(process.argv.slice(2));
