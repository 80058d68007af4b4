// The page: a worker runs the job of the form; figures and the stepper show the results.
const runs = []; // { name, job, points }, the newest last
let worker = null;
let waiting = null;

const source = () =>
  URL.createObjectURL(new Blob([$('engine').textContent], { type: 'text/javascript' }));
async function newWorker() {
  if (worker) worker.terminate();
  worker = new Worker(source());
  worker.onmessage = ({ data }) => waiting?.(data);
  worker.onerror = error => waiting?.({ wrong: error.message });
  worker.postMessage({ wasm: await unpacked(D.wasm), shared: D.shared });
}
function tell(text, wrong = false) {
  $('state').textContent = text;
  $('state').className = wrong ? 'wrong' : 'soft';
}
function working(on) {
  $('job').setAttribute('aria-busy', String(on));
  $('run').disabled = on;
  $('stop').disabled = !on;
  for (const button of $('points').querySelectorAll('button')) button.disabled = on;
}

// A later edit of the machine leaves a copy as it is; programs are never edited.
function copyOf({ program, ...others }) {
  return { ...structuredClone(others), program };
}
function nameOf(job) {
  const set = job.parameters.map(([name, , text]) => `${name}=${text}`);
  const options = unusual(job).map(([, value]) => value);
  const parts = [`${program.name} on ${machine.id}`, edited && 'edited', ...set, ...options];
  return parts.filter(Boolean).join(', ');
}

function start() {
  let job;
  try {
    job = jobOfForm();
  } catch (error) {
    return tell(error.message, true);
  }
  const begun = performance.now();
  const total = job.threads.length * Math.max(1, job.seeds.length);
  const run = { name: nameOf(job), job: copyOf(job), points: [] };
  run.command = commandOf('run', job, $('threads').value);
  runs.push(run);
  if (runs.length > COLOURS.length) runs.shift();
  working(true);
  $('hash').textContent = '';
  $('command').textContent = run.command;
  waiting = data => {
    if (data.done !== undefined)
      return tell(
        `${run.points.length} of ${total} runs; ${data.threads} threads: ${data.done} operations`,
      );
    if (data.point) {
      run.points.push(data.point);
      tell(`${run.points.length} of ${total} runs`);
      return showRun(runs, run);
    }
    working(false);
    if (data.wrong) {
      if (!run.points.length) runs.pop();
      return tell(data.wrong, true);
    }
    $('hash').textContent = run.hash = data.hash;
    tell(`done: ${total} runs in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  };
  worker.postMessage({ job: run.job });
}
async function stop() {
  waiting = null;
  await newWorker();
  working(false);
  tell('stopped; what was finished is shown');
}

// ---- the stepper, filled as uncore.trace.stepper.page fills it
const MOST_MESSAGES = 60000; // of a page
const MOST_OPERATIONS = 4000; // of a run that fits
function watch(run, threads, seed) {
  if (run.points.find(p => p.threads === threads).ops > MOST_OPERATIONS)
    return tell(`${threads} threads do too many operations to step through: set ops lower`, true);
  working(true);
  tell(`tracing ${threads} threads`);
  waiting = ({ trace, wrong }) => {
    working(false);
    if (wrong) return tell(wrong, true);
    const many = trace.tables.messages.length;
    if (many > MOST_MESSAGES)
      return tell(
        `${many} messages are too many for a page, which holds ${MOST_MESSAGES}: set ops lower`,
        true,
      );
    const parts = {
      TITLE: escaped(trace.title),
      DATA: JSON.stringify([trace]).replaceAll('<', '\\u003c'),
    };
    const page = D.stepper.replace(/@([A-Z]+)@/g, (mark, name) => parts[name] ?? mark);
    const url = URL.createObjectURL(new Blob([page], { type: 'text/html' }));
    $('stepping').hidden = false;
    $('stepper').src = $('alone').href = url;
    $('stepper').scrollIntoView();
    tell(`${threads} threads, ${many} messages`);
  };
  worker.postMessage({
    job: run.job,
    watch: [threads, seed],
    command: commandOf('watch', run.job, threads),
  });
}
const escaped = text =>
  text.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

// ---- choosing
async function chooseMachine() {
  const id = $('machine').value;
  machine = { id, ...(await unpackedValue(D.machines[id][1])) };
  edited = false;
  drawNumbers();
  const room = machine.harts.compact.length;
  $('room').textContent = room;
  if (D.machines[id][2] !== undefined)
    $('threads').value = room > 1 ? `1,2..${Math.min(room, 32)}` : '1';
}
async function chooseWorkload() {
  program = unpackedProgram(await unpackedValue(D.workloads[$('workload').value]));
  $('summary').textContent = program.summary;
  drawParameters();
}
async function begin() {
  for (const [id, [name, , harts]] of Object.entries(D.machines))
    $('machine').append(new Option(`${id}: ${name}, ${harts} harts`, id));
  for (const name in D.workloads) $('workload').append(new Option(name));
  const address = new URLSearchParams(location.hash.slice(1));
  $('machine').value = D.machines[address.get('machine')] ? address.get('machine') : 'ccx:4x8';
  $('workload').value = D.workloads[address.get('workload')]
    ? address.get('workload')
    : 'lock/ticket';
  await Promise.all([chooseMachine(), chooseWorkload(), newWorker()]);
  if (address.get('threads')) $('threads').value = address.get('threads');
  document.documentElement.dataset.ready = 'yes';
}
$('machine').addEventListener('change', chooseMachine);
$('workload').addEventListener('change', chooseWorkload);
$('restore').addEventListener('click', chooseMachine);
$('job').addEventListener('submit', event => {
  event.preventDefault();
  start();
});
$('stop').addEventListener('click', stop);
begin();
window.playground = { runs };
