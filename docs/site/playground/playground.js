// The script of the playground: it runs the job of the form in a worker, and shows the results and
// the stepper.
const runs = []; // { name, asked, job, points, hash } of each run; the newest is last
let worker = null;
let onWorkerMessage = null;

const source = () =>
  URL.createObjectURL(new Blob([$('engine').textContent], { type: 'text/javascript' }));
async function newWorker() {
  if (worker) worker.terminate();
  worker = new Worker(source());
  worker.onmessage = ({ data }) => onWorkerMessage?.(data);
  worker.onerror = error => onWorkerMessage?.({ wrong: error.message });
  worker.postMessage({ wasm: await unpacked(D.wasm), shared: D.shared });
}
function showState(text, wrong = false) {
  $('state').textContent = text;
  $('state').className = wrong ? 'wrong' : 'soft';
}
function showError({ message }) {
  const line = $('workload').value === WRITTEN && mark(message);
  showState(line ? `line ${line} of the text: see below it` : message, true);
}
function setBusy(on) {
  $('job').setAttribute('aria-busy', String(on));
  $('run').disabled = on;
  $('stop').disabled = !on;
  for (const button of $('points').querySelectorAll('button')) button.disabled = on;
}

// Returns a copy of the job, so that later edits of the machine do not change it. The program is
// never edited, so it is not copied.
function copyOf({ program, ...others }) {
  return { ...structuredClone(others), program };
}
function nameOf(job) {
  const set = job.parameters.map(([name, , text]) => `${name}=${text}`);
  const options = nonDefaultOptions(job).map(([, value]) => value);
  const about = [numbersEdited() && 'edited', ...set, ...options];
  return [`${job.program.name} on ${machine.id}`, ...about].filter(Boolean).join(', ');
}
// Returns a text that is the same for two jobs only if they are the same job.
function questionOf(job) {
  const state = stateOf();
  for (const id of ['workload', 'other']) state.delete(id);
  return `${job.program.name}&${state}`;
}
// Posts a message to the worker and waits for the reply that isLast() accepts. Earlier replies are
// passed to onReply(). An error of the worker rejects the promise.
function replyTo(message, isLast, onReply = () => {}) {
  return new Promise((resolve, reject) => {
    onWorkerMessage = data => {
      if (data.wrong) reject(new Error(data.wrong));
      else if (isLast(data)) resolve(data);
      else onReply(data);
    };
    worker.postMessage(message);
  });
}

async function start() {
  setBusy(true);
  let jobs;
  try {
    if ($('workload').value === WRITTEN) program = await assembledText();
    const job = jobOfForm();
    jobs = [job, otherJob(job)].filter(Boolean);
  } catch (error) {
    setBusy(false);
    return showError(error);
  }
  saveState();
  entry.hasRun = true;
  const begun = performance.now();
  const newest = jobs.map(job => ({
    name: nameOf(job),
    asked: questionOf(job),
    job: copyOf(job),
    points: [],
  }));
  for (const { asked } of newest) {
    const twin = runs.findIndex(run => run.asked === asked);
    if (twin >= 0) runs.splice(twin, 1);
  }
  runs.push(...newest);
  while (runs.length > COLOURS.length) runs.shift();
  $('hash').textContent = '';
  showCommand(commandOf('run', jobs, $('threads').value));
  const total = newest.length * jobs[0].threads.length * Math.max(1, jobs[0].seeds.length);
  const progressText = () => `${newest.flatMap(run => run.points).length} of ${total} runs`;
  try {
    for (const run of newest) await runJob(run, progressText, () => showRuns(runs, newest));
    const [why] = newest.flatMap(run => run.points).flatMap(point => point.failures);
    if (why) throw new Error(why);
    showState(`done: ${total} runs in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  } catch (error) {
    showError(error);
    for (const run of newest) if (!run.points.length) runs.splice(runs.indexOf(run), 1);
  }
  $('hash').textContent = newest.map(run => run.hash).join(' ');
  setBusy(false);
}
function showCommand(words) {
  const [first, ...options] = words.split(' --');
  const parts = options.map(option => {
    const part = document.createElement('span');
    part.textContent = `--${option}`;
    return part;
  });
  $('command').replaceChildren(first, ...parts.flatMap(part => [' ', part]));
}
async function runJob(run, progressText, redraw) {
  const onReply = ({ point, done, threads }) => {
    if (point) {
      run.points.push(point);
      redraw();
    }
    showState(point ? progressText() : `${progressText()}; ${threads} threads: ${done} operations`);
  };
  const { hash } = await replyTo({ job: run.job }, data => data.hash !== undefined, onReply);
  run.hash = hash;
}
async function stop() {
  onWorkerMessage = null;
  await newWorker();
  setBusy(false);
  showState('stopped; what was finished is shown');
}

// ---- The stepper. Its page is filled in as by uncore.trace.stepper.page.
const MAX_MESSAGES = 60000; // greatest number of messages on a page of the stepper
const MAX_OPERATIONS = 4000; // a run with more operations would have too many messages
async function watch(watched, threads, seed) {
  const isLong = run => run.points.find(p => p.threads === threads).ops > MAX_OPERATIONS;
  if (watched.some(isLong))
    return showState(
      `${threads} threads do too many operations to step through: set ops lower`,
      true,
    );
  setBusy(true);
  showState(`tracing ${threads} threads`);
  const command = commandOf(
    'watch',
    watched.map(run => run.job),
    threads,
  );
  try {
    const traces = [];
    for (const { job } of watched) {
      const request = { job, watch: [threads, seed], command };
      const { trace } = await replyTo(request, data => data.trace);
      traces.push(watched.length > 1 ? { ...trace, name: job.program.name } : trace);
    }
    showStepper(traces, threads);
  } catch (error) {
    showState(error.message, true);
  }
  setBusy(false);
}
function showStepper(traces, threads) {
  const messageCount = traces.reduce((sum, trace) => sum + trace.tables.messages.length, 0);
  if (messageCount > MAX_MESSAGES)
    throw new Error(
      `${messageCount} messages are too many for a page, which holds ${MAX_MESSAGES}: set ops lower`,
    );
  const parts = {
    TITLE: escaped(traces.map(trace => trace.name ?? trace.title).join(' and ')),
    DATA: JSON.stringify(traces).replaceAll('<', '\\u003c'),
  };
  const page = D.stepper.replace(/@([A-Z]+)@/g, (mark, name) => parts[name] ?? mark);
  const url = URL.createObjectURL(new Blob([page], { type: 'text/html' }));
  $('stepping').hidden = false;
  $('stepper').src = $('alone').href = url;
  $('stepper').scrollIntoView();
  showState(`${threads} threads, ${messageCount} messages`);
}
const escaped = text =>
  text.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

// ---- choosing
async function chooseMachine() {
  const id = $('machine').value;
  machine = { id, ...(await unpackedValue(D.machines[id][1])) };
  edits.clear();
  drawNumbers();
  const harts = machine.harts.compact.length;
  $('room').textContent = harts;
  if (D.machines[id][2] !== undefined)
    $('threads').value = harts > 1 ? `1,2..${Math.min(harts, 32)}` : '1';
}
const assembledText = async () =>
  writtenProgram(unpackedProgram(await unpackedValue(D.frame)), $('text').value);
async function chooseWorkload() {
  const name = $('workload').value;
  $('written-box').hidden = name !== WRITTEN;
  try {
    program =
      name === WRITTEN
        ? await assembledText()
        : unpackedProgram(await unpackedValue(D.workloads[name]));
  } catch (error) {
    return showError(error);
  }
  $('summary').textContent = program.summary;
  drawParameters();
}
async function chooseOther() {
  const name = $('other').value;
  other = name ? unpackedProgram(await unpackedValue(D.workloads[name])) : undefined;
}
// Sets a select element to its value in the address, or to `usual` if `choices` has no such value.
function setChoice(id, address, usual, choices) {
  $(id).value = choices[address.get(id)] ? address.get(id) : usual;
}
// Makes the choices that the page's address states, and the usual ones where it states none.
async function chooseAsAddressed() {
  const address = new URLSearchParams(location.hash.slice(1));
  entry.restoring = true;
  showText(address.get('text') ?? Object.values(D.examples)[0]);
  setChoice('machine', address, 'graviton2', D.machines);
  setChoice('workload', address, 'lock/ticket', { ...D.workloads, [WRITTEN]: true });
  setChoice('other', address, location.hash ? '' : 'lock/mcs', D.workloads);
  await Promise.all([chooseMachine(), chooseWorkload(), chooseOther()]);
  for (const id of ['machine', 'workload', 'other']) address.delete(id);
  restore(address);
  entry.restoring = entry.hasRun = false;
}
async function begin() {
  for (const [id, [name, , harts]] of Object.entries(D.machines))
    $('machine').append(new Option(`${name === id ? '' : `${id}: `}${name}, ${harts} harts`, id));
  for (const name in D.workloads)
    for (const id of ['workload', 'other']) $(id).append(new Option(name));
  $('workload').prepend(new Option('written here', WRITTEN));
  for (const name in D.examples) $('example').append(new Option(name));
  await Promise.all([chooseAsAddressed(), newWorker()]);
  document.documentElement.dataset.ready = 'yes';
  start();
}
$('machine').addEventListener('change', chooseMachine);
$('workload').addEventListener('change', chooseWorkload);
$('example').addEventListener('change', () => {
  showText(D.examples[$('example').value]);
});
$('other').addEventListener('change', chooseOther);
$('restore').addEventListener('click', chooseMachine);
$('job').addEventListener('change', saveState);
$('job').addEventListener('submit', event => {
  event.preventDefault();
  start();
});
$('stop').addEventListener('click', stop);
window.addEventListener('popstate', async () => {
  if (!$('stop').disabled) await stop();
  await chooseAsAddressed();
  start();
});
begin();
window.playground = { runs };
